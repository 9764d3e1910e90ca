#include "transformer/decode/bleu.h"

#include <cmath>

#include "tests/catch.h"
#include "transformer/decode/tokenizer_13a.h"
#include "transformer/error.h"
#include "transformer/json.h"

using Catch::Matchers::Contains;
using namespace transformer;

namespace {

// Made by tests/golden/bleu.py with sacreBLEU.
const Json& golden() {
  static const Json json = read_json(TRANSFORMER_SOURCE "/tests/golden/bleu.json");
  return json;
}

}  // namespace

TEST_CASE("tokenizer 13a: every golden line as sacreBLEU has it") {
  REQUIRE(golden()["tokenized"].size() > 20);
  for (const auto& item : golden()["tokenized"]) {
    REQUIRE(tokenize_13a(item["line"].get<std::string>()) == item["tokens"].get<std::string>());
  }
}

TEST_CASE("tokenizer 13a: periods and commas stay only between digits") {
  REQUIRE(tokenize_13a("1,000.5") == "1,000.5");
  REQUIRE(tokenize_13a("5. a.5") == "5 . a . 5");
  REQUIRE(tokenize_13a("1..2") == "1 . . 2");
  REQUIRE(tokenize_13a("10-12 well-known don't") == "10 - 12 well-known don't");
  REQUIRE(tokenize_13a("(a)&quot;b&quot;") == "( a ) \" b \"");
  REQUIRE(tokenize_13a("a\xc2\xa0 b\xe3\x80\x80"
                       "c\xe2\x80\x8b") == "a b c\xe2\x80\x8b");
}

TEST_CASE("bleu: every golden corpus as sacreBLEU has it, to 1e-9 and as printed") {
  REQUIRE(golden()["corpora"].size() > 30);
  for (const auto& item : golden()["corpora"]) {
    const auto score = corpus_bleu(item["hypotheses"].get<std::vector<std::string>>(),
                                   item["references"].get<std::vector<std::string>>());
    CHECK(score.score == Approx(item["score"].get<double>()).margin(1e-9).epsilon(0));
    CHECK(score.bp == Approx(item["bp"].get<double>()).margin(1e-12).epsilon(0));
    for (size_t n = 0; n < kBleuOrder; ++n) {
      CHECK(score.precisions[n] ==
            Approx(item["precisions"][n].get<double>()).margin(1e-9).epsilon(0));
      CHECK(score.counts[n] == item["counts"][n].get<int64_t>());
      CHECK(score.totals[n] == item["totals"][n].get<int64_t>());
    }
    CHECK(score.sys_len == item["sys_len"].get<int64_t>());
    CHECK(score.ref_len == item["ref_len"].get<int64_t>());
    CHECK(to_string(score) == item["printed"].get<std::string>());
  }
}

TEST_CASE("bleu: the signature is sacreBLEU's but for the version, which names this program") {
  const std::string common = golden()["signature"].get<std::string>();
  REQUIRE_THAT(signature(), Catch::Matchers::StartsWith(common + "|version:transformer-"));
}

// Papineni et al. 2002, example 2: the word is found twice in the reference, so it counts twice.
TEST_CASE("bleu: a word counts as often as the reference has it") {
  const auto s =
      sentence_statistics("the the the the the the the", "The cat is on the mat the end");
  REQUIRE(s.counts == std::array<int64_t, 4>{2, 0, 0, 0});
  REQUIRE(s.totals == std::array<int64_t, 4>{7, 6, 5, 4});
  REQUIRE(s.sys_len == 7);
  REQUIRE(s.ref_len == 8);
  // Precisions 2/7, 1/12, 1/20, 1/32 and brevity exp(1 - 8/7).
  const double by_hand = 100 * std::exp(1 - 8.0 / 7) * std::pow(2.0 / 7 / 12 / 20 / 32, 0.25);
  REQUIRE(bleu_score(s).score == Approx(by_hand).epsilon(1e-12));
}

TEST_CASE("bleu: a corpus' statistics are the sum of its sentences'") {
  const std::vector<std::string> hypotheses = {"a b c d e", "", "x y z z"};
  const std::vector<std::string> references = {"a b c e d", "q", "x y z"};
  BleuStatistics sum;
  for (const auto& sentence : corpus_statistics(hypotheses, references)) sum += sentence;
  REQUIRE(sum == BleuStatistics(corpus_bleu(hypotheses, references)));
  REQUIRE(sum.counts == std::array<int64_t, 4>{8, 4, 2, 0});
  REQUIRE(sum.totals == std::array<int64_t, 4>{9, 7, 5, 3});
}

TEST_CASE("bleu: without a line, or with a line too many, there is no score") {
  REQUIRE_THROWS_AS(corpus_bleu({}, {}), UserError);
  REQUIRE_THROWS_WITH(corpus_bleu({"a", "b"}, {"a"}),
                      Contains("a hypothesis for each of 1 reference lines; got 2"));
}
