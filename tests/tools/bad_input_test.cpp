#include <torch/torch.h>

#include <algorithm>
#include <filesystem>

#include "tests/catch.h"
#include "tests/temporary_folder.h"
#include "tests/tools/workplace.h"
#include "transformer/diverged.h"
#include "transformer/files.h"
#include "transformer/folder_lock.h"
#include "transformer/json.h"
#include "transformer/train/state.h"

using namespace transformer;
using Catch::Matchers::Contains;
namespace fs = std::filesystem;

TEST_CASE("bad input: configs and usage", "[e2e]") {
  refused(run_program({"trian"}), 2, "trian: unknown command; did you mean train?");
  refused(run_program({"train"}), 2, "too few arguments");
  refused(run_program({"train", "configs/mini.json"}), 2, "expected --out RUN");
  refused(run_program({"train", "configs/mini.json", "--ouT", "x"}), 2, "ouT");
  refused(run_program({"config", "configs/none.json"}), 2, "configs/none.json: cannot open");
  refused(run_program({"config", "configs/mini.json", "model.hh=2"}), 2, "did you mean model.h?");
  refused(run_program({"config", "configs/mini.json", "model.P_drop=1.5"}), 2,
          "transformer: command line: model.P_drop: 1.5 is not in [0, 1)");
  refused(run_program({"config", "configs/mini.json", "training.seed=0"}), 2,
          "transformer: command line: training.seed: 0 is not in 1..");
  refused(run_program({"config", "configs/mini.json", "model.norm_placement=prenorm"}), 2,
          "is not one of: post, pre");
  refused(run_program({"config", "configs/table3.json"}), 2, "this is a sweep");
  refused(run_program({"train", "configs/mini.json", "--out", "x", "--device", "tpu"}), 2,
          "is not one of: auto, cpu");
}

TEST_CASE("bad input: options are named, with what may have been meant", "[e2e]") {
  const std::vector<std::string> train = {"train", "configs/mini.json", "--out", "/proc/none"};
  const auto with = [](std::vector<std::string> words, const std::vector<std::string>& more) {
    words.insert(words.end(), more.begin(), more.end());
    return run_program(words);
  };
  refused(with(train, {"--seed", "3"}), 2,
          "--seed: unknown option; did you mean training.seed=VALUE?");
  refused(with({"translate", "--checkpoint", "x"}, {"--beam=4"}), 2,
          "--beam: unknown option; did you mean decoding.beam=VALUE?");
  refused(with(train, {"N=3"}), 2, "N: unknown key; did you mean model.N?");
  refused(with(train, {"--ouT", "x"}), 2, "--ouT: unknown option; did you mean --out?");
  refused(with(train, {"--threads", "two"}), 2,
          "--threads: expected an integer in 0..4096; got two");
  refused(with(train, {"--threads"}), 2, "--threads: expected a value; got none");
  refused(with(train, {"-x"}), 2, "does not exist; --help says more");
  refused(with(train, {"--out", "elsewhere"}), 2, "--out: is given twice");
  refused(with(train, {"model.h=1", "model.h=4"}), 2, "command line: model.h is given twice");
  refused(with(train, {"data.make=caf\xe9"}), 2, "data.make: expected UTF-8; got \"caf\\xe9\"");
  refused(with({"config", "configs/mini.json"}, {"data.train=\xff"}), 2,
          "data.train: expected UTF-8");
  refused(with({"sweep", "configs/mini.json", "--dry-run"}, {"data.train=a,\xff"}), 2,
          "data.train: expected UTF-8");
  refused(with(train, {"--json=3"}), 2, "--json: takes no value; got 3");
  refused(run_program({"data", "vocabulary", "--files", "x", "-V", "300", "--pieces=300"}), 2,
          "--pieces: is given twice");
  refused(run_program({"bench", "train", "configs/mini.json", "--parts=maybe"}), 2,
          "--parts: expected true or false; got maybe");
  refused(run_program({"train", "configs/mini.json", "--out", "--json"}), 2,
          "--out: expected a value; got the option --json");
  refused(run_program({"train", "configs/mini.json", "--out="}), 2,
          "--out: expected a value; got none");
  refused(run_program({"average", "x", "--out", "y", "--last", "-1"}), 2,
          "--last: expected an integer of at least 0; got -1");
  refused(run_program({"data", "generate", "--out", "x", "--pairs", "1e3"}), 2,
          "--pairs: expected an integer of at least 0; got 1e3");
  refused(run_program({"bleu"}), 2, "bleu: expected --reference FILE");
  refused(run_program({"bleu", "--reference", "configs"}), 2,
          "configs: expected a text file; it is a folder");
  refused(run_program({"config", ""}), 2, "(an empty path): cannot open");
}

TEST_CASE("bad input: what a file says reaches the terminal as text alone", "[e2e]") {
  const TemporaryFolder folder;
  const std::string file = (folder / "x.json").string();
  const auto told = [&](const std::string& text, const std::string& message) {
    write_file(file, text);
    const auto outcome = run_program({"config", file});
    refused(outcome, 2, message);
    REQUIRE(outcome.err.find('\x1b') == std::string::npos);
    REQUIRE(outcome.err.size() < 5000);
  };
  const std::string evil = "\\u001b[2J" + std::string(1 << 20, 'k');
  told("{\"" + evil + "\": 1}", file + ": \"\\u001b[2Jkk");
  told("{\"model\": {\"" + evil + "\": 1}}", file + ": model.\"\\u001b[2Jkk");
  told("{\"base\": \"" + evil + "\"}", "cannot open");
  told("{\"model\": {\"norm\": \"" + evil + "\"}}", "is not one of: layer");
  const auto piped = run_program({"config", "/dev/stdin"}, "", "cat configs/base.json |");
  INFO(piped.err);
  REQUIRE(piped.code == 0);  // a pipe with a writer is as good as a file
  refused(run_program({"config", "/dev/zero"}), 2, "/dev/zero: expected at most");
  refused(run_program({"score", "--checkpoint", "x", "--source", "/dev/zero", "--target", "x"}), 2,
          "/dev/zero: expected a text file; it is a device");
}

TEST_CASE("bad input: a model that cannot fit into memory is refused before training", "[e2e]") {
  const Workplace place;
  refused(place.train("huge", {"model.d_model=262144", "model.d_ff=262144", "model.N=100"}), 2,
          "parameters with gradients and Adam's moments");
  REQUIRE_FALSE(fs::exists(place.file("huge/checkpoints")));
  refused(place.train("wide", {"model.h=1048576", "model.d_k=1048576", "model.d_v=8"}), 2,
          "model.d_k: 1048576 × model.h = 1048576 is more than 16777216");
}

TEST_CASE("bad input: data", "[e2e]") {
  const Workplace place;
  refused(place.train("r1", {"data.train=" + place.file("nowhere")}), 2,
          "make it with: transformer data");
  REQUIRE(place.train("r1").code == 0);  // nothing was trained there: it may be put right
  refused(place.train("r2", {"data.tokens_per_batch=5"}), 2,
          "word-pieces on a side, end-of-sentence included, but data.tokens_per_batch is 5");
  refused(place.train("r3", {"model.positions=learned", "model.max_positions=3"}), 2,
          place.file("data/train.en") + ": line ");

  const fs::path valid = place.file("data/valid.en");
  const std::string text = read_file(valid);
  write_file(valid, text + "One more line.\n");
  refused(place.train("r4"), 2, "12");
  write_file(valid, "caf\xe9\n" + text.substr(text.find('\n') + 1));
  refused(place.train("r5"), 2, "valid.en: line 1");
  write_file(valid, text);

  for (const char* side : {"en", "de"}) {
    write_file(place.file(std::string("data/none.") + side), "\n\n");
  }
  refused(place.train("r6", {"data.train=" + place.file("data/none")}), 2, "none");
  write_file(valid, text.substr(text.find('\n') + 1) + std::string(900, 'x') + "\n");
  REQUIRE(place.train("long").code == 0);  // more pieces than a batch holds: a batch of its own
  write_file(valid, text);
  refused(place.train("r7", {"model.tie_embeddings=false", "model.source_V=500"}), 2,
          "model.source_V: 500");
  REQUIRE(place.train("r8").code == 0);
}

TEST_CASE("bad input: a run's folder", "[e2e]") {
  const Workplace place;
  refused(run_program({"train", "configs/mini.json", "--out", "/proc/nothing/run"}), 1,
          "cannot create the folder");
  REQUIRE(place.train("run").code == 0);
  refused(place.train("run", {"training.eps_ls=0.2"}), 2, "training.eps_ls: 0.1 there; 0.2 now");
  refused(place.train("run", {"training.train_steps=3"}), 2, "more steps, not fewer");
  refused(place.train("run", {"decoding.alpha=0.5"}), 2,
          "is complete, with decoding.alpha: 0.6 there; 0.5 now; transformer evaluate");
  {
    const FolderLock held(place.file("run"));
    refused(place.train("run"), 1, "in use by another process");
  }
  REQUIRE(place.train("run").code == 0);  // complete: says so again
}

TEST_CASE("bad input: checkpoints and vocabularies", "[e2e]") {
  const Workplace place;
  REQUIRE(place.train("run").code == 0);
  const auto translate = [&](const std::string& checkpoint,
                             const std::string& change = "decoding.beam=1") {
    return run_program({"translate", "--checkpoint", checkpoint, change}, "the\n");
  };
  const std::string model = place.file("run/model.safetensors");
  REQUIRE(translate(model).code == 0);
  refused(translate(place.file("nowhere")), 2, "nowhere");
  refused(translate(model, "model.N=2"), 2, "model.N: ");
  write_file(place.file("cut.safetensors"), read_file(model).substr(0, 5000));
  refused(translate(place.file("cut.safetensors")), 2,
          "cut.safetensors: not a sound safetensors file");
  write_file(place.file("zip.safetensors"), "PK\x03\x04 something else altogether");
  refused(translate(place.file("zip.safetensors")), 2, "zip.safetensors");
  write_state(place.file("foreign.safetensors"), {{"w", torch::ones({2})}}, {});
  refused(translate(place.file("foreign.safetensors")), 2, "expected the config in its metadata");

  for (const std::vector<std::string>& twice :
       {std::vector<std::string>{model, model},
        {place.file("run"), place.file("run/checkpoints/step-000000004")},
        {place.file("run/checkpoints/step-000000004/model.safetensors"),
         place.file("run/../run")}}) {
    refused(run_program({"average", twice[0], twice[1], "--out", place.file("mean.safetensors")}),
            2, "is given twice");
  }

  auto read = read_state(model);
  read.state.erase("encoder.layers.0.feed_forward.in.bias");
  write_state(place.file("missing.safetensors"), read.state, read.metadata);
  refused(translate(place.file("missing.safetensors")), 2,
          "encoder.layers.0.feed_forward.in.bias: missing from the file");

  const auto other = run_program({"data", "vocabulary", "--files", place.file("data/valid.de"),
                                  "--pieces", "330", "--out", place.file("other.model")});
  INFO(other.err);
  REQUIRE(other.code == 0);
  refused(translate(model, "data.vocabulary=" + place.file("other.model")), 2, "other.model");
  const auto cut = run_program({"translate", "--checkpoint", model}, "fine\ncaf\xe9\nfine\n");
  refused(cut, 2, "standard input: line 2: expected UTF-8");
  REQUIRE(std::count(cut.out.begin(), cut.out.end(), '\n') == 1);  // what came before it
  refused(translate(model, "data.vocabulary=" + place.file("gone.model")), 2,
          "gone.model: the vocabulary of");
  REQUIRE_FALSE(fs::exists(place.file("gone.model")));
}

TEST_CASE("bad input: a checkpoint that is to be averaged is never passed over", "[e2e]") {
  const Workplace place;
  const std::vector<std::string> averaged = {"training.average_last=3",
                                             "training.checkpoint_every=1"};
  REQUIRE(place.train("run", averaged).code == 0);
  const std::string model = read_file(place.file("run/model.safetensors"));
  fs::remove(place.file("run/result.json"));
  fs::create_directory(place.file("run/checkpoints/step-notes"));  // somebody's own
  REQUIRE(place.train("run", averaged).code == 0);
  REQUIRE(read_file(place.file("run/model.safetensors")) == model);

  fs::remove(place.file("run/result.json"));
  const std::string third = place.file("run/checkpoints/step-000000003/model.safetensors");
  write_file(third, read_file(third).substr(0, 3000));
  refused(place.train("run", averaged), 1, "step-000000003/model.safetensors: not a sound");
  fs::remove_all(place.file("run/checkpoints/step-000000003"));
  refused(place.train("run", averaged), 1, "is one of those to be averaged");
  fs::remove_all(place.file("run/checkpoints"));
  REQUIRE(place.train("run", averaged).code == 0);
  REQUIRE(read_file(place.file("run/model.safetensors")) == model);
}

TEST_CASE("bad input: a disk that is full keeps the last checkpoint", "[e2e]") {
  const Workplace place;
  REQUIRE(place.train("whole").code == 0);
  const auto stopped = place.train("run", {"training.checkpoint_every=1"}, "timeout 60");
  REQUIRE(stopped.code == 0);
  // As a disk with room for 4 KiB more a file: a small file fits, weights do not.
  const auto full = place.train("full", {"training.checkpoint_every=1"}, "ulimit -f 8 &&");
  refused(full, 1, "File too large");
  REQUIRE(fs::is_empty(place.file("full/checkpoints")));  // nothing that looks whole
  REQUIRE(place.train("full", {"training.checkpoint_every=1"}).code == 0);
}

TEST_CASE("bad input: a loss that is not finite ends the run and keeps the last checkpoint",
          "[e2e]") {
  const Workplace place;
  refused(place.train("run", {"training.schedule=constant", "training.learning_rate=1e25",
                              "training.warmup_steps=0", "training.checkpoint_every=1"}),
          kExitDiverged, "is not finite");
  REQUIRE(fs::exists(place.file("run/checkpoints/step-000000001/model.safetensors")));
  REQUIRE_FALSE(fs::exists(place.file("run/result.json")));

  // It is known now: started again it ends at once with what it found, until that is removed.
  const fs::path divergence = place.file("run/divergence.json");
  const Json known = read_json(divergence);
  REQUIRE(known["step"].get<int64_t>() > 1);
  const std::vector<std::string> same = {"training.schedule=constant",
                                         "training.learning_rate=1e25", "training.warmup_steps=0",
                                         "training.checkpoint_every=1"};
  refused(place.train("run", same), kExitDiverged,
          "so it ended before: remove " + divergence.string());
  fs::remove(divergence);
  refused(place.train("run", same), kExitDiverged, "nothing of this step was kept");
  REQUIRE(read_json(divergence)["step"] == known["step"]);
}
