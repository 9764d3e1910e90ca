#include <torch/torch.h>

#include <filesystem>

#include "tests/catch.h"
#include "tests/tools/workplace.h"
#include "transformer/data/file_lock.h"
#include "transformer/files.h"
#include "transformer/json.h"
#include "transformer/train/checkpoint.h"

using namespace transformer;
using Catch::Matchers::Contains;
namespace fs = std::filesystem;

TEST_CASE("run: more steps go on from the end of a complete run", "[e2e]") {
  const Workplace place;
  REQUIRE(place.train("run").code == 0);
  const auto longer = place.train("run", {"training.train_steps=7", "decoding.beam=3"});
  INFO(longer.err);
  REQUIRE(longer.code == 0);
  REQUIRE_THAT(longer.err, Contains("goes on after step 4"));
  REQUIRE(place.train("unbroken", {"training.train_steps=7", "decoding.beam=3"}).code == 0);
  REQUIRE(read_file(place.file("run/model.safetensors")) ==
          read_file(place.file("unbroken/model.safetensors")));
  const Json result = read_json(place.file("run/result.json"));
  const Json want = read_json(place.file("unbroken/result.json"));
  for (const char* key :
       {"train_steps", "perplexity", "bleu", "target_tokens", "flops", "config_fingerprint"}) {
    INFO(key);
    REQUIRE(result[key] == want[key]);
  }
}

TEST_CASE("run: a damaged result or a lost model is made again from the checkpoints", "[e2e]") {
  const Workplace place;
  REQUIRE(place.train("run").code == 0);
  const fs::path model = place.file("run/model.safetensors");
  const fs::path result = place.file("run/result.json");
  const std::string weights = read_file(model), figures = read_file(result);
  const double perplexity = read_json(result)["perplexity"].get<double>();

  for (const std::string& left : {std::string(), weights.substr(0, 3000)}) {
    left.empty() ? void(fs::remove(model)) : write_file(model, left);
    const auto again = place.train("run");
    INFO(again.err);
    REQUIRE(again.code == 0);
    REQUIRE_THAT(again.err, Contains("made again from the checkpoints"));
    REQUIRE(read_file(model) == weights);
    REQUIRE(read_file(result) == figures);
  }
  std::string flipped = figures;
  const size_t digit = flipped.find("\"bleu\": ") + 8;
  flipped[digit] = flipped[digit] == '9' ? '8' : '9';
  write_file(result, flipped);
  const auto again = place.train("run");
  INFO(again.err);
  REQUIRE(again.code == 0);
  REQUIRE_THAT(again.err, Contains("do not match its checksum"));
  REQUIRE(read_json(result)["perplexity"].get<double>() == perplexity);

  fs::remove_all(place.file("run/checkpoints"));
  fs::remove(model);
  refused(place.train("run"), 1, "result.json to train again");
}

TEST_CASE("run: its folder keeps the vocabulary, and the model works without the original",
          "[e2e]") {
  const Workplace place;
  REQUIRE(place.train("run").code == 0);
  const auto translate = [&](const std::string& checkpoint) {
    return run_program({"translate", "--checkpoint", place.file(checkpoint)}, "the\n");
  };
  const auto before = translate("run");
  REQUIRE(before.code == 0);
  REQUIRE(read_file(place.file("run/vocabulary.model")) ==
          read_file(place.file("data/vocabulary.model")));
  const fs::path original = place.file("data/vocabulary.model");
  write_file(original, "another file");
  REQUIRE(translate("run").out == before.out);
  fs::remove(original);
  for (const char* checkpoint :
       {"run", "run/model.safetensors", "run/checkpoints/step-000000004"}) {
    const auto after = translate(checkpoint);
    INFO(after.err);
    REQUIRE(after.code == 0);
    REQUIRE(after.out == before.out);
  }
  fs::remove(place.file("run/vocabulary.model"));
  refused(translate("run"), 2, "name its place with data.vocabulary=FILE");
}

TEST_CASE("run: two vocabularies are kept as one is", "[e2e]") {
  const Workplace place;
  const std::string source = place.file("data/source.model");
  REQUIRE(place
              .train("run", {"model.tie_embeddings=false", "model.source_V=390",
                             "data.source_vocabulary=" + source})
              .code == 0);
  const auto translate = [&] {
    return run_program({"translate", "--checkpoint", place.file("run/checkpoints/step-000000004")},
                       "the\n");
  };
  const auto before = translate();
  REQUIRE(before.code == 0);
  fs::rename(source, place.file("data/moved"));
  REQUIRE(translate().out == before.out);
  fs::remove(place.file("run/source_vocabulary.model"));
  refused(translate(), 2, source + ": the vocabulary of");
}

TEST_CASE("interrupt: a checkpoint, exit code 130, and the same end as without it", "[e2e]") {
  const Workplace place;
  const std::vector<std::string> longer = {"training.train_steps=1500", "training.log_every=10"};
  const auto stopped = place.train(
      "run", longer, signalled_once("INT", "[ -s " + place.file("run/metrics.jsonl") + " ]"));
  INFO(stopped.err);
  REQUIRE(stopped.code == 130);
  REQUIRE_THAT(stopped.err,
               Contains("stopping with a checkpoint; a second signal ends it at once\n") &&
                   Contains("stopped with a checkpoint; run the same command again"));
  REQUIRE_FALSE(fs::exists(place.file("run/result.json")));
  REQUIRE(place.train("run", longer).code == 0);
  REQUIRE(place.train("unbroken", longer).code == 0);
  REQUIRE(read_file(place.file("run/model.safetensors")) ==
          read_file(place.file("unbroken/model.safetensors")));
}

TEST_CASE("interrupt: before training begins it ends soon, and the next start goes on", "[e2e]") {
  const Workplace place;
  const std::string lock = place.file("data/vocabulary.model.lock");
  {
    const FileLock another(lock);  // as while another process learns the vocabulary
    for (const auto& [signal, code] : {std::pair{"INT", 130}, {"TERM", 143}}) {
      const std::string has_begun = "[ -e " + place.file(signal) + "/config.json ]";
      const auto stopped = place.train(signal, {}, signalled_once(signal, has_begun));
      INFO(stopped.err);
      REQUIRE(stopped.code == code);
      REQUIRE_THAT(stopped.err,
                   Contains("transformer: stopping; word-pieces that are being learned are") &&
                       Contains("\nstopped; run the same command again to go on"));
    }
  }
  REQUIRE_FALSE(fs::exists(place.file("data/vocabulary.model")));
  REQUIRE(place.train("INT").code == 0);
}

TEST_CASE("run: a step that is not finite leaves a dump that shows the same again", "[e2e]") {
  const Workplace place;
  const auto run = place.train("run", {"training.schedule=constant", "training.learning_rate=1e25",
                                       "training.warmup_steps=0", "training.accumulate=2"});
  refused(run, 3, "is not finite; nothing of this step was kept. First tensor: ");
  REQUIRE_THAT(run.err, Contains("Training pairs in the batch: "));
  const std::string dump = place.file("run/diverged.safetensors");
  const std::string again = "transformer train --replay " + dump;
  REQUIRE_THAT(run.err, Contains(again));
  const size_t start = run.err.find("First tensor: ") + std::string("First tensor: ").size();
  const std::string finding = run.err.substr(start, run.err.find(". ", start) - start);

  const auto replay = run_program({"train", "--replay", dump});
  INFO(replay.err);
  REQUIRE(replay.code == 3);
  REQUIRE_THAT(replay.out, Contains("first tensor that is not finite: " + finding + "\n") &&
                               Contains("2 batches") && Contains(" ||| "));
  write_file(dump, read_file(dump).substr(0, 4000));
  refused(run_program({"train", "--replay", dump}), 2, "diverged.safetensors: not a sound");
}

TEST_CASE("run: validation and its place draw no random number", "[e2e]") {
  const Workplace place;
  REQUIRE(place.train("with", {"training.validate_every=1"}).code == 0);
  REQUIRE(place.train("without", {"training.validate_every=0"}).code == 0);
  const auto weights = [&](const char* name) {  // the config in the metadata differs
    return read_model(place.file(std::string(name) + "/model.safetensors")).state;
  };
  const auto with = weights("with"), without = weights("without");
  for (const auto& [name, tensor] : with) REQUIRE(torch::equal(tensor, without.at(name)));
}
