#include <algorithm>

#include "tests/catch.h"
#include "tests/temporary_folder.h"
#include "tests/tools/program.h"
#include "transformer/files.h"
#include "transformer/json.h"

using namespace transformer;

TEST_CASE("a tiny model learns the generated pair to BLEU > 90", "[e2e][learning]") {
  const TemporaryFolder folder;
  const auto file = [&](const std::string& name) { return (folder / name).string(); };
  REQUIRE(run_program({"data", "generate", "--out", file("data"), "--words", "20", "--longest", "6",
                       "--pairs", "6000", "--valid", "200", "--test", "100"})
              .code == 0);
  const auto trained = run_program({"train",
                                    "configs/mini.json",
                                    "--out",
                                    file("run"),
                                    "--json",
                                    "data.train=" + file("data/train"),
                                    "data.valid=" + file("data/valid"),
                                    "data.test=" + file("data/test"),
                                    "data.vocabulary=" + file("data/vocabulary.model"),
                                    "model.V=400",
                                    "model.N=2",
                                    "model.h=4",
                                    "model.d_k=16",
                                    "model.d_v=16",
                                    "model.P_drop=0",
                                    "data.tokens_per_batch=600",
                                    "training.eps_ls=0",
                                    "training.train_steps=3200",
                                    "training.warmup_steps=200",
                                    "training.schedule=cosine",
                                    "training.learning_rate=0.004",
                                    "training.average_last=1"});
  INFO(trained.err);
  REQUIRE(trained.code == 0);
  REQUIRE(parse_json(trained.out, "result")["bleu"].get<double>() > 90);

  // The test sentences too, which nothing was chosen by.
  const auto test = run_program({"evaluate", "--checkpoint", file("run"), "--json"});
  INFO(test.err);
  REQUIRE(test.code == 0);
  REQUIRE(parse_json(test.out, "evaluation")["bleu"].get<double>() > 85);

  // Neither batches, nor their order, nor the room in them change a translation.
  const std::string source = read_file(file("data/valid.en")) + read_file(file("data/test.en"));
  const auto translated = [&](const std::vector<std::string>& overrides) {
    std::vector<std::string> words = {"translate", "--checkpoint", file("run")};
    words.insert(words.end(), overrides.begin(), overrides.end());
    const auto outcome = run_program(words, source);
    REQUIRE(outcome.code == 0);
    return outcome.out;
  };
  const auto want = translated({"decoding.sentences_per_batch=1"});
  REQUIRE(std::count(want.begin(), want.end(), '\n') == 300);
  REQUIRE(translated({}) == want);
  REQUIRE(translated({"decoding.sentences_per_batch=300"}) == want);
  REQUIRE(translated({"decoding.sentences_per_batch=11", "decoding.tokens_per_batch=900"}) == want);
}
