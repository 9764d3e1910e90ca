#include <algorithm>
#include <fstream>

#include "tests/catch.h"
#include "tests/temporary_folder.h"
#include "tests/tools/program.h"
#include "tests/tools/workplace.h"
#include "transformer/json.h"

using namespace transformer;
using Catch::Matchers::Contains;

namespace {

std::vector<std::string> bench(const std::vector<std::string>& more) {
  std::vector<std::string> words = {"bench",      "train",      "configs/mini.json",
                                    "model.V=50", "model.N=1",  "data.tokens_per_batch=300",
                                    "--steps=3",  "--threads=1"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

}  // namespace

TEST_CASE("bench train: figures of the work that was asked for", "[e2e]") {
  const TemporaryFolder folder;
  const auto lengths = folder / "lengths";
  std::ofstream(lengths) << "5 7\n4 6\n100 3\n";  // two batches: 100 · 3 is the whole budget
  for (const char* before : {"", "TRANSFORMER_CACHED_MEMORY=0", "TRANSFORMER_CPU=plain"}) {
    const auto outcome =
        run_program(bench({"--json", "--warmup=0", "--lengths=" + lengths.string()}), "", before);
    INFO(outcome.err);
    REQUIRE(outcome.code == 0);
    const Json json = Json::parse(outcome.out);
    REQUIRE(json["steps"] == 3);
    REQUIRE(json["seconds_minimum"].get<double>() > 0);
    // 109 and 16 real tokens of 3 · (100 + 7).
    REQUIRE(json["real_tokens"].get<double>() == Approx(125.0 / 321));
    double parts = 0;
    for (const auto& [part, share] : json["parts"].items()) parts += share.get<double>();
    REQUIRE(parts == Approx(1));
    for (const char* part : {"attention", "feed-forward", "loss", "optimizer", "residual"}) {
      REQUIRE(json["parts"][part].get<double>() > 0);
    }
  }
}

TEST_CASE("bench: wrong work is refused by name", "[e2e]") {
  const TemporaryFolder folder;
  const auto lengths = folder / "lengths";
  const auto refusal = [&](const std::string& text) {
    std::ofstream(lengths) << text;
    const auto outcome = run_program(bench({"--lengths=" + lengths.string()}));
    REQUIRE(outcome.code == 2);
    return outcome.err;
  };
  REQUIRE_THAT(refusal("5 7\n5\n"), Contains("line 2: expected two lengths"));
  REQUIRE_THAT(refusal("5 7\n5 0\n"), Contains("line 2: expected two lengths"));
  REQUIRE_THAT(refusal(""), Contains("no lengths"));
  REQUIRE_THAT(refusal("301 2\n"), Contains("data.tokens_per_batch: 300"));
  const auto refused_at_once = [](const std::vector<std::string>& more) {
    return run_program(bench(more));
  };
  REQUIRE_THAT(refused_at_once({"--warmup=9223372036854775807"}).err,
               Contains("--warmup: expected an integer in 0..1000000"));
  REQUIRE_THAT(refused_at_once({"--lengths=."}).err, Contains("it is a folder"));
  const auto missing = run_program(bench({"--lengths=/nowhere/lengths"}));
  REQUIRE(missing.code == 2);
  REQUIRE_THAT(missing.err, Contains("/nowhere/lengths"));
}

TEST_CASE("bench decode: word-pieces that are none are refused by line", "[e2e]") {
  const TemporaryFolder folder;
  const auto sentences = folder / "sentences";
  for (const std::string line : {"5 -", "5 99999999999999999999", "50", "-1", "", "5 x", "1.5"}) {
    put(sentences, "7 8\n" + line + "\n");
    refused(run_program({"bench", "decode", "configs/mini.json", "model.V=50", "--threads=1",
                         "--sentences=" + sentences.string()}),
            2, "sentences: line 2: expected numbers of word-pieces");
  }
}

TEST_CASE("bench gemm: lists the products of a step", "[e2e]") {
  const auto outcome = run_program(
      {"bench", "gemm", "configs/mini.json", "model.V=50", "--tokens=20", "--threads=1", "--json"});
  REQUIRE(outcome.code == 0);
  const Json json = Json::parse(outcome.out);
  REQUIRE(json["products"].size() == 51);
  REQUIRE(json["flops_per_second"].get<double>() > 0);
}

TEST_CASE("bench train: a Chrome trace has the operations of the steps", "[e2e]") {
  const TemporaryFolder folder;
  const auto file = (folder / "trace.json").string();
  const auto outcome = run_program(bench({"--profile", file}));
  INFO(outcome.err);
  REQUIRE(outcome.code == 0);
  const Json trace = read_json(file);
  const auto& events = trace["traceEvents"];
  REQUIRE(std::any_of(events.begin(), events.end(),
                      [](const Json& event) { return event.value("name", "") == "aten::mm"; }));
}

TEST_CASE("bench data: pairs, batches and memory of what a config trains on", "[e2e]") {
  const Workplace place;
  const auto outcome =
      run_program({"bench", "data", "configs/mini.json", "data.train=" + place.file("data/train"),
                   "data.vocabulary=" + place.file("data/vocabulary.model"), "model.V=400",
                   "data.tokens_per_batch=200", "--json"});
  INFO(outcome.err);
  REQUIRE(outcome.code == 0);
  const Json json = Json::parse(outcome.out);
  REQUIRE(json["pairs"].get<int64_t>() > 0);
  REQUIRE(json["batches"].get<int64_t>() > 1);
  REQUIRE(json["tokens_per_second"].get<double>() > 0);
  REQUIRE(json["real_tokens"].get<double>() > 0.5);
  REQUIRE(json["real_tokens"].get<double>() <= 1);
}
