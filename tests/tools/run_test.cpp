#include <torch/torch.h>

#include <filesystem>
#include <functional>
#include <sstream>

#include "experiments/own_folder.h"
#include "tests/catch.h"
#include "tests/tools/workplace.h"
#include "transformer/data/file_lock.h"
#include "transformer/decode/load.h"
#include "transformer/diverged.h"
#include "transformer/error.h"
#include "transformer/files.h"
#include "transformer/json.h"
#include "transformer/train/checkpoint.h"
#include "transformer/train/step_dump.h"

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

TEST_CASE("run: diagnostics.jsonl has each line once, whenever the run was cut short", "[e2e]") {
  const Workplace place;
  const std::vector<std::string> settings = {
      "training.train_steps=8", "training.checkpoint_every=3", "training.diagnostics_every=2"};
  REQUIRE(place.train("run", settings).code == 0);
  const fs::path file = place.file("run/diagnostics.jsonl");
  const std::string whole = read_file(file);
  std::vector<int64_t> steps;
  std::istringstream lines(whole);
  for (std::string line; std::getline(lines, line);) {
    const Json json = parse_json(line, "line");
    steps.push_back(json["step"].get<int64_t>());
    const Json& sublayers = json["sublayers"];
    REQUIRE(sublayers.size() == 5);
    REQUIRE(sublayers[0]["sublayer"] == "encoder.layers.0.self_attention");
    REQUIRE(sublayers[0]["attention_entropy"].size() == 2);
    for (const char* weight : {"q.weight", "k.weight", "v.weight", "o.weight"}) {
      REQUIRE(sublayers[0]["gradient"][weight].get<double>() > 0);
      REQUIRE(sublayers[0]["update_weight"][weight].get<double>() > 0);
    }
    REQUIRE(sublayers[1]["gradient"]["in.weight"].get<double>() > 0);
    REQUIRE_FALSE(sublayers[1].contains("attention_entropy"));
  }
  REQUIRE(steps == std::vector<int64_t>{2, 4, 6, 8});

  // As if killed after step 8 was written down, but before its checkpoint: on from step 6.
  const double perplexity = read_json(place.file("run/result.json"))["perplexity"].get<double>();
  fs::remove(place.file("run/result.json"));
  fs::remove(place.file("run/model.safetensors"));
  fs::remove_all(place.file("run/checkpoints/step-000000008"));
  write_file(file, whole + "{\"step\": 10, \"subl");
  const auto again = place.train("run", settings);
  INFO(again.err);
  REQUIRE(again.code == 0);
  REQUIRE_THAT(again.err, Contains("goes on after step 6"));
  REQUIRE(read_file(file) == whole);
  REQUIRE(read_json(place.file("run/result.json"))["perplexity"].get<double>() == perplexity);
}

TEST_CASE("run: keeps its translations, and they give its BLEU", "[e2e]") {
  const Workplace place;
  REQUIRE(place.train("run").code == 0);
  const auto scored =
      run_program({"bleu", "--json", "--reference", place.file("run/valid.references"),
                   "--hypothesis", place.file("run/valid.translations")});
  INFO(scored.err);
  REQUIRE(scored.code == 0);
  REQUIRE(parse_json(scored.out, "bleu")["bleu"] ==
          read_json(place.file("run/result.json"))["bleu"]);
  REQUIRE(read_file(place.file("run/valid.references")) == read_file(place.file("data/valid.de")));
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
  // A vocabulary that is stated to be the model's and has fewer pieces is not asked for them.
  StepDump other = read_dump(dump);
  const fs::path vocabulary = place.file("run/vocabulary.model");
  train_vocabulary({.files = {place.file("data/train.en")}, .V = 320, .output = vocabulary});
  other.vocabulary = vocabulary_fingerprint({Tokenizer(vocabulary), Tokenizer(vocabulary)});
  write_dump(dump, other);
  const auto with_other = run_program({"train", "--replay", dump});
  INFO(with_other.err);
  REQUIRE(with_other.code == 3);
  REQUIRE_THAT(with_other.out, !Contains(" ||| "));
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

TEST_CASE("run: a folder that is no run's keeps every file that a run would write over", "[e2e]") {
  const Workplace place;
  const fs::path out = place.file("out");
  for (const std::string name :
       {"config.json", "lock", "metrics.jsonl", "model.safetensors", "result.json",
        "divergence.json", "diverged.safetensors", "valid.translations", "valid.checksums",
        "vocabulary.model", "source_vocabulary.model", "checkpoints/.tmp-mine/f",
        "checkpoints/step-000000001/progress.json"}) {
    INFO(name);
    fs::create_directories((out / name).parent_path());
    write_file(out / name, "123\n");  // as a lock has it, but nobody's
    REQUIRE_THROWS_AS(expect_own_run(out, {}), UserError);
    const std::string file = (out / name.substr(0, name.find('/'))).string();
    REQUIRE_THROWS_WITH(expect_own_run(out, {}), Contains(file + ": is there, but "));
    fs::remove_all(out);
  }
  fs::create_directory(out);
  write_file(out / "notes.tmp-12", "mine");
  write_file(out / "lock", "");  // of a start that was killed, or nothing to lose
  REQUIRE_NOTHROW(expect_own_run(out, {}));

  // The config itself, as it may be written by hand or printed.
  const auto printed = run_program({"config", "configs/mini.json"});
  write_file(out / "config.json", printed.out);
  const auto refusal = run_program(
      {"train", (out / "config.json").string(), "--out", out.string(), "model.d_ff=32"});
  refused(refusal, 2, "config.json: is there, but ");
  REQUIRE(read_file(out / "config.json") == printed.out);
  REQUIRE(read_file(out / "lock").empty());
  REQUIRE_FALSE(fs::exists(out / "checkpoints"));

  fs::remove(out / "config.json");
  REQUIRE(place.train("out").code == 0);
  REQUIRE(read_file(out / "notes.tmp-12") == "mine");
}

TEST_CASE("run: a vocabulary in the run's own folder is never written over", "[e2e]") {
  const Workplace place;
  const std::string own = place.file("run/vocabulary.model");
  refused(place.train("run", {"data.vocabulary=" + place.file("run/model.safetensors")}), 2,
          "the run would write over it; give it another name");
  // Refused before its first checkpoint, it may be begun again.
  const std::vector<std::string> words = {"data.vocabulary=" + own};
  refused(place.train("run", {words[0], "data.tokens_per_batch=5"}), 2, "data.tokens_per_batch");
  const std::string learned = read_file(own);
  REQUIRE(place.train("other", {"model.V=390"}).code == 0);
  refused(place.train("run", {"model.V=390"}), 2, own + ": is the data.vocabulary that ");
  REQUIRE(read_file(own) == learned);
  REQUIRE(place.train("run", words).code == 0);
  REQUIRE(read_file(own) == learned);
}

TEST_CASE("run: without a sound config.json it is still held to what it began with", "[e2e]") {
  const Workplace place;
  REQUIRE(place.train("run").code == 0);
  const fs::path config = place.file("run/config.json"), result = place.file("run/result.json");
  const std::string kept = read_file(config), figures = read_file(result);
  for (const bool is_complete : {true, false}) {
    if (!is_complete) fs::remove(result);
    for (const bool is_missing : {true, false}) {
      is_missing ? void(fs::remove(config)) : write_file(config, "");
      refused(place.train("run", {"model.d_ff=64"}), 2,
              "holds another run: model.d_ff: 16 there; 64 now");
      REQUIRE(fs::exists(config) != is_missing);
      const auto again = place.train("run");
      INFO(again.err);
      REQUIRE(again.code == 0);
      REQUIRE_THAT(again.err, Contains(is_missing ? "config.json: is missing; "
                                                  : "config.json: not JSON: line 1, column 1; "));
      REQUIRE_THAT(again.err, Contains(" has the run's config"));
      REQUIRE(read_file(config) == kept);
    }
    if (is_complete) REQUIRE(read_file(result) == figures);
  }
  // Nor do figures pass for another model's where config.json was changed by hand, its checksum
  // left as it was or taken out.
  std::string changed = kept;
  changed.replace(changed.find("\"d_ff\": 16"), 10, "\"d_ff\": 64");
  Json unsealed = parse_json(changed, "changed");
  unsealed.erase("checksum");
  for (const std::string& by_hand : {changed, text_of(unsealed, 2) + "\n"}) {
    write_file(config, by_hand);
    refused(place.train("run", {"model.d_ff=64"}), 2, "model.d_ff: 16 there; 64 now");
    REQUIRE(place.train("run").code == 0);
    REQUIRE(read_file(config) == kept);
  }
}

TEST_CASE("run: translations that are damaged or lost are made again", "[e2e]") {
  const Workplace place;
  REQUIRE(place.train("run").code == 0);
  const double bleu = read_json(place.file("run/result.json"))["bleu"].get<double>();
  for (const char* name : {"valid.translations", "valid.references", "valid.checksums"}) {
    const fs::path file = place.file(std::string("run/") + name);
    const std::string sound = read_file(file);
    for (const bool is_missing : {true, false}) {
      is_missing ? void(fs::remove(file)) : write_file(file, sound + " ");
      const auto again = place.train("run");
      INFO(again.err);
      REQUIRE(again.code == 0);
      REQUIRE_THAT(again.err,
                   Contains(file.string() + (is_missing ? ": is missing" : ": damaged")) &&
                       Contains("; translated again") && Contains("after step 4"));
      REQUIRE(read_file(file) == sound);
      REQUIRE(read_json(place.file("run/result.json"))["bleu"].get<double>() == bleu);
    }
  }
  // Without checkpoints it says so and stays what it is.
  fs::remove_all(place.file("run/checkpoints"));
  write_file(place.file("run/valid.translations"), "");
  const auto left = place.train("run");
  REQUIRE(left.code == 0);
  REQUIRE_THAT(left.err, Contains("valid.translations: damaged: it is not what was written\n") &&
                             Contains("already complete"));
}

TEST_CASE("run: a line of diagnostics that is damaged is told and left out", "[e2e]") {
  const Workplace place;
  const std::vector<std::string> settings = {"training.diagnostics_every=2"};
  REQUIRE(place.train("run", settings).code == 0);
  const fs::path file = place.file("run/diagnostics.jsonl");
  const std::string whole = read_file(file);
  const size_t line_end = whole.find('\n') + 1;
  std::string damaged = whole;
  damaged[line_end / 2] ^= 1;
  write_file(file, damaged);
  fs::remove(place.file("run/result.json"));
  const auto again = place.train("run", settings);
  INFO(again.err);
  REQUIRE(again.code == 0);
  REQUIRE_THAT(again.err, Contains("diagnostics.jsonl: line 1: damaged") &&
                              Contains("the diagnostics of these steps are lost: 2\n"));
  REQUIRE(read_file(file) == whole.substr(line_end));
}

TEST_CASE("run: a sound model that is not its own is made again", "[e2e]") {
  const Workplace place;
  REQUIRE(place.train("run").code == 0);
  REQUIRE(place.train("other", {"training.seed=2"}).code == 0);
  const fs::path model = place.file("run/model.safetensors");
  const std::string own = read_file(model);
  fs::copy_file(place.file("other/model.safetensors"), model, fs::copy_options::overwrite_existing);
  REQUIRE_THAT(
      run_program({"check", place.file("run")}).out + run_program({"check", place.file("run")}).err,
      Contains("model.safetensors: is sound, but not the one that made"));
  const auto again = place.train("run");
  INFO(again.err);
  REQUIRE(again.code == 0);
  REQUIRE_THAT(again.err, Contains("is sound, but not the one that made the run's figures; the "
                                   "model is made again from the checkpoints"));
  REQUIRE(read_file(model) == own);
}

TEST_CASE("run: a perplexity beyond all numbers is a divergence, though every loss is finite",
          "[e2e]") {
  const Workplace place;
  const std::vector<std::string> steep = {"training.schedule=constant", "training.warmup_steps=0",
                                          "training.learning_rate=1e6",
                                          "training.validate_every=0"};
  refused(place.train("run", steep), kExitDiverged, "perplexity on this text is not finite");
  REQUIRE(read_json(place.file("run/divergence.json"))["step"] == 4);
  REQUIRE_FALSE(fs::exists(place.file("run/result.json")));
  auto validated = steep;
  validated.back() = "training.validate_every=2";
  refused(place.train("validated", validated), kExitDiverged,
          "step 2: the perplexity on data.valid is not finite");
}

TEST_CASE("run: a run and a sweep do not share a folder, nor a run that of its text", "[e2e]") {
  const Workplace place;
  REQUIRE(place.train("run").code == 0);
  refused(run_program({"sweep", "configs/mini.json", "model.N=1,2", "--out", place.file("run")}), 2,
          "holds a run; take another --out folder");
  run_program({"sweep", "configs/mini.json", "data.train=/no/such", "data.vocabulary=/no/such",
               "--out", place.file("sweep")});
  refused(place.train("sweep"), 2, "holds a sweep; take another --out folder");
  refused(place.train("data"), 2, "take another --out folder");
  REQUIRE_FALSE(fs::exists(place.file("data/lock")));
}

TEST_CASE("average: a file of a run is not written over", "[e2e]") {
  const Workplace place;
  REQUIRE(place.train("run").code == 0);
  const std::string checkpoint =
      checkpoint_folders(place.file("run/checkpoints")).back().string() + "/model.safetensors";
  for (const std::string& file : {checkpoint, place.file("run/model.safetensors")}) {
    refused(run_program({"average", place.file("run"), "--out", file, "--force"}), 2,
            "is a file of a run");
  }
}

TEST_CASE("models: weights that are not finite, and whole numbers, are refused by name", "[e2e]") {
  const Workplace place;
  REQUIRE(place.train("run").code == 0);
  const auto sound = read_state(place.file("run/model.safetensors"));
  const auto translate_with =
      [&](const std::function<torch::Tensor(const torch::Tensor&)>& change) {
        StateFile file = sound;
        for (auto& [name, tensor] : file.state) tensor = change(tensor);
        write_state(place.file("changed.safetensors"), file.state, file.metadata);
        return run_program({"evaluate", "--checkpoint", place.file("changed.safetensors"), "--data",
                            place.file("data/test")});
      };
  refused(translate_with([](const auto& tensor) { return torch::full_like(tensor, NAN); }), 2,
          "has values that are not finite");
  refused(translate_with([](const auto& tensor) { return tensor.to(torch::kInt32); }), 2,
          "file has whole numbers (Int), which are no weights");
}
