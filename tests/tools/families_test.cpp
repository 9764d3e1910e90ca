#include <algorithm>
#include <cmath>
#include <filesystem>
#include <sstream>

#include "tests/catch.h"
#include "tests/tools/workplace.h"
#include "transformer/files.h"
#include "transformer/json.h"

using Catch::Matchers::Contains;
using transformer::Json;
namespace fs = std::filesystem;

namespace {

Json json_of(const Outcome& outcome) {
  INFO(outcome.err);
  REQUIRE(outcome.code == 0);
  return Json::parse(outcome.out);
}

}  // namespace

TEST_CASE("families: train, resume, check, average, evaluate", "[e2e]") {
  const Workplace place;
  for (const std::string family : {"decoder_only", "encoder_only"}) {
    INFO(family);
    const std::vector<std::string> set = {"model.family=" + family, "training.train_steps=6",
                                          "training.checkpoint_every=2",
                                          "training.diagnostics_every=3"};
    const auto whole = place.train(family, set);
    INFO(whole.err);
    REQUIRE(whole.code == 0);
    REQUIRE_THAT(whole.out, Contains("perplexity") && !Contains("BLEU"));
    const auto result = Json::parse(transformer::read_file(place.file(family + "/result.json")));
    REQUIRE(result["bleu"].is_null());
    REQUIRE(result["source_tokens"] == 0);
    REQUIRE_FALSE(fs::exists(place.file(family + "/valid.translations")));
    REQUIRE(run_program({"check", place.file(family)}).code == 0);

    // Killed after step 4's checkpoint: as if it had never been.
    const std::string killed = family + "-killed";
    fs::create_directories(place.file(killed) + "/checkpoints");
    for (const char* part : {"/config.json", "/checkpoints/step-000000004"}) {
      fs::copy(place.file(family) + part, place.file(killed) + part, fs::copy_options::recursive);
    }
    REQUIRE(place.train(killed, set).code == 0);
    REQUIRE(transformer::read_file(place.file(killed + "/model.safetensors")) ==
            transformer::read_file(place.file(family + "/model.safetensors")));

    const std::string mean = place.file(family + ".safetensors");
    REQUIRE(run_program({"average", place.file(family), "--last", "2", "--out", mean}).code == 0);
    const auto evaluated = json_of(run_program({"evaluate", "--checkpoint", place.file(family),
                                                "--data", place.file("data/valid"), "--json"}));
    REQUIRE(evaluated["perplexity"].get<double>() ==
            Approx(result["perplexity"].get<double>()).epsilon(1e-9));
    REQUIRE_FALSE(evaluated.contains("bleu"));
    refused(run_program({"translate", "--checkpoint", mean}, "the\n"), 2,
            "translate: the model's family is " + family);
    refused(run_program({"evaluate", "--checkpoint", mean, "--data", place.file("data/valid"),
                         "--hypotheses", place.file("hyp")}),
            2, "evaluate: --hypotheses: the model's family is " + family);
  }
}

TEST_CASE("families: score gives a language model's log-probabilities, whose mean is perplexity's",
          "[e2e]") {
  const Workplace place;
  REQUIRE(place.train("lm", {"model.family=decoder_only"}).code == 0);
  const auto target = place.file("data/test.de");
  const auto scored = run_program({"score", "--checkpoint", place.file("lm"), "--target", target});
  INFO(scored.err);
  REQUIRE(scored.code == 0);
  std::istringstream lines(scored.out);
  double sum = 0, count = 0;
  for (double log_p = 0, pieces = 0; lines >> log_p >> pieces;) {
    sum += log_p;
    count += pieces;
  }
  const auto evaluated = json_of(run_program(
      {"evaluate", "--checkpoint", place.file("lm"), "--data", place.file("data/test"), "--json"}));
  REQUIRE(evaluated["target_tokens"] == count);
  REQUIRE(evaluated["perplexity"].get<double>() == Approx(std::exp(-sum / count)).epsilon(1e-5));
  refused(run_program({"score", "--checkpoint", place.file("lm"), "--source",
                       place.file("data/test.en"), "--target", target}),
          2, "reads no source; give --target alone");
  REQUIRE(place.train("pair").code == 0);
  refused(run_program({"score", "--checkpoint", place.file("pair"), "--target", target}), 2,
          "score: expected --source FILE");
  REQUIRE(place.train("masked", {"model.family=encoder_only"}).code == 0);
  refused(run_program({"score", "--checkpoint", place.file("masked"), "--target", target}), 2,
          "gives sentences no probability");
}

TEST_CASE("families: a sweep of all three, its table, comparison and report", "[e2e]") {
  const Workplace place;
  std::vector<std::string> words = {"sweep", "configs/mini.json", "--out", place.file("sweep")};
  const auto settings = place.settings({"model.family=encoder_decoder,decoder_only,encoder_only"});
  words.insert(words.end(), settings.begin(), settings.end());
  auto dry = words;
  dry.insert(dry.end(), {"--dry-run", "--json"});
  const auto plan = json_of(run_program(dry))["rows"];
  REQUIRE(plan.size() == 3);
  const auto done = run_program(words);
  INFO(done.err);
  REQUIRE(done.code == 0);
  const auto rows =
      json_of(run_program({"table", place.file("sweep"), "--format", "json"}))["rows"];
  REQUIRE(rows.size() == 3);
  for (size_t i = 0; i < 3; ++i) {
    REQUIRE(rows[i]["bleu"].is_null() == (i > 0));
    REQUIRE(rows[i]["perplexity"]["mean"].get<double>() > 1);
    REQUIRE(rows[i]["parameters"]["mean"] == plan[i]["parameters"]);
  }
  const auto table = run_program({"table", place.file("sweep")});
  REQUIRE_THAT(table.out, Contains("PPL of family-encoder_only: over the masked word-pieces"));
  const auto compared =
      run_program({"compare", place.file("sweep"), "--by", "model.family", "--format", "json"});
  const auto overall = json_of(compared)["overall"];
  for (const auto& value : overall) REQUIRE(value["bleu_difference"].is_null());
  REQUIRE(overall[1]["perplexity_difference"].is_object());
  REQUIRE(run_program({"report", place.file("sweep"), "--out", place.file("r.html")}).code == 0);
  REQUIRE(read_json(place.file("r-charts/speed.vl.json"))["data"]["values"].size() == 3);
  REQUIRE(read_json(place.file("r-charts/quality.vl.json"))["data"]["values"].size() == 1);
  REQUIRE(run_program({"check", place.file("sweep")}).code == 0);
  // A model that is sound but another's is told from the one that made the figures.
  fs::copy_file(place.file("sweep/family-encoder_only/seed-1/model.safetensors"),
                place.file("sweep/family-decoder_only/seed-1/model.safetensors"),
                fs::copy_options::overwrite_existing);
  REQUIRE_THAT(run_program({"check", place.file("sweep")}).out,
               Contains("family-decoder_only/seed-1/model.safetensors: is sound, but not the one"));
  REQUIRE_THAT(run_program({"watch", place.file("sweep"), "--once"}).out,
               Contains("family-decoder_only") && Contains("perplexity"));
}

TEST_CASE("families: inspect counts what is there", "[e2e]") {
  const std::string set = "model.V=400";
  for (const std::string family : {"decoder_only", "encoder_only"}) {
    INFO(family);
    const std::string stack = family.substr(0, 7);
    const std::string other = stack == "decoder" ? "encoder" : "decoder";
    for (const char* topic :
         {"parameters", "flops", "shapes", "signal", "kv-cache", "embedding-scale"}) {
      INFO(topic);
      const auto shown =
          run_program({"inspect", topic, "configs/mini.json", "model.family=" + family, set});
      INFO(shown.err);
      REQUIRE(shown.code == 0);
    }
    REQUIRE(run_program({"inspect", "positions", "configs/mini.json", "model.family=" + family, set,
                         "model.positions=learned"})
                .code == 0);
    const auto shown = [&](const char* topic) {
      return run_program({"inspect", topic, "configs/mini.json", "model.family=" + family, set})
          .out;
    };
    for (const char* topic : {"parameters", "shapes", "signal"}) {
      REQUIRE_THAT(shown(topic), Contains(stack) && !Contains(other) && !Contains("source"));
    }
    const auto cache = json_of(run_program({"inspect", "kv-cache", "configs/mini.json",
                                            "model.family=" + family, set, "--json"}))["rows"][0];
    REQUIRE(cache["cross_attention_bytes"] == 0);
    REQUIRE((cache["bytes_a_token"] == 0) == (stack == "encoder"));
  }
}

TEST_CASE("families: keys of what no family has are refused by name", "[e2e]") {
  const Workplace place;
  refused(place.train("run", {"model.cross_attention=false"}), 2,
          "model.cross_attention: unknown key");
  refused(place.train("run", {"model.family=decoder"}), 2,
          "is not one of: encoder_decoder, decoder_only, encoder_only");
  REQUIRE_FALSE(fs::exists(place.file("run")));
}
