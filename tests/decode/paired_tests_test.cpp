#include "transformer/decode/paired_tests.h"

#include "tests/catch.h"
#include "transformer/error.h"
#include "transformer/json.h"
#include "transformer/numpy_random.h"

using namespace transformer;

namespace {

// Made by tests/golden/paired_tests.py with sacreBLEU and NumPy.
const Json& golden_tests() {
  static const Json json = read_json(TRANSFORMER_SOURCE "/tests/golden/paired_tests.json");
  return json;
}

}  // namespace

TEST_CASE("numpy random: bits, choices and coins as NumPy draws them") {
  REQUIRE(golden_tests()["drawn"].size() == 4);
  for (const auto& item : golden_tests()["drawn"]) {
    const auto seed = item["seed"].get<uint64_t>();
    INFO("seed " << seed);
    NumpyRandom bits(seed), choice(seed), many(seed), coins(seed);
    for (const auto& want : item["bits"]) {
      REQUIRE(std::to_string(bits.next64()) == want.get<std::string>());
    }
    for (const auto& want : item["choice"]) REQUIRE(choice.below(1000) == want.get<uint32_t>());
    for (const auto& want : item["choice_of_many"]) {
      REQUIRE(many.below(3'000'000'000) == want.get<uint32_t>());
    }
    for (const auto& want : item["coins"]) REQUIRE(coins.coin() == (want.get<int>() == 1));
  }
}

TEST_CASE("paired tests: the same p-values as sacreBLEU's, every case") {
  const PairedTestOptions samples{
      .bootstrap_samples = golden_tests()["samples"]["bs"].get<int64_t>(),
      .randomisation_trials = golden_tests()["samples"]["ar"].get<int64_t>()};
  REQUIRE(golden_tests()["cases"].size() == 4);
  for (const auto& item : golden_tests()["cases"]) {
    auto options = samples;
    options.seed = item["seed"].get<uint64_t>();
    const auto references = item["references"].get<std::vector<std::string>>();
    std::vector<SentenceStatistics> systems;
    for (const auto& hypotheses : item["hypotheses"]) {
      systems.push_back(corpus_statistics(hypotheses.get<std::vector<std::string>>(), references));
    }
    for (size_t i = 1; i < systems.size(); ++i) {
      INFO(references.size() << " sentences, system " << i);
      CHECK(paired_bootstrap(systems[0], systems[i], options) ==
            Approx(item["bootstrap"][i - 1].get<double>()).epsilon(1e-12));
      CHECK(approximate_randomisation(systems[0], systems[i], options) ==
            Approx(item["randomisation"][i - 1].get<double>()).epsilon(1e-12));
    }
  }
}

TEST_CASE("paired tests: other sentences, or none, are refused") {
  const SentenceStatistics one(1), two(2);
  REQUIRE_THROWS_AS(paired_bootstrap(one, two), UserError);
  REQUIRE_THROWS_AS(approximate_randomisation({}, {}), UserError);
}
