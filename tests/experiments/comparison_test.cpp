#include "experiments/comparison.h"

#include <cmath>

#include "experiments/comparison_report.h"
#include "experiments/translations.h"
#include "tests/catch.h"
#include "tests/temporary_folder.h"
#include "transformer/error.h"
#include "transformer/files.h"

using Catch::Matchers::Contains;
using namespace transformer;

namespace {

RunRecord done(const std::string& id, int64_t seed, double perplexity, double bleu) {
  Result result;
  result.perplexity = perplexity;
  result.bleu = bleu;
  result.seed = seed;
  result.bleu_signature = "nrefs:1";
  return {id, seed, RunState::complete, result};
}

RunRecord diverged(const std::string& id, int64_t seed, int64_t step) {
  return {id, seed, RunState::diverged, {}, "the loss is not finite", step};
}

RowRecord placed(const std::string& id, const std::string& placement, int64_t N) {
  const Json set = {{"model.norm_placement", placement}, {"model.N", N}, {"model.h", 8}};
  const Json config = {{"model", {{"norm_placement", placement}, {"N", N}, {"h", 8}}}};
  return {id, "", set, {}, config};
}

// Placement by depth, two seeds; one run diverged, one is missing, and one row stands alone.
Results two_by_two() {
  Results results;
  results.rows = {placed("post-3", "post", 3), placed("post-6", "post", 6),
                  placed("pre-3", "pre", 3), placed("pre-6", "pre", 6), placed("pre-9", "pre", 9)};
  results.results = {done("post-3", 1, 5, 30),  done("post-3", 2, 6, 28),
                     diverged("post-6", 1, 41), done("post-6", 2, 90, 1),
                     done("pre-3", 1, 4, 31),   done("pre-3", 2, 3, 33),
                     done("pre-6", 1, 3.5, 35), done("pre-6", 2, 3, 36),
                     done("pre-9", 1, 3, 36),   {"pre-9", 2, RunState::missing, {}}};
  return results;
}

RunDetails no_details(const RunRecord&) { return {}; }

const ComparisonOptions kByPlacement{.keys = {"norm_placement"}};

}  // namespace

TEST_CASE("comparison: rows alike in every other key are paired, seed by seed") {
  const Summary summary = summarize(two_by_two());
  const auto comparison = compare(summary, no_details, kByPlacement);
  REQUIRE(comparison.keys == std::vector<std::string>{"model.norm_placement"});
  REQUIRE(comparison.setting_keys == std::vector<std::string>{"model.N"});  // h is 8 everywhere
  REQUIRE(comparison.baseline == std::vector<std::string>{"post"});
  REQUIRE(comparison.unmatched == std::vector<std::string>{"pre-9"});
  REQUIRE(comparison.settings.size() == 2);

  const auto& three = comparison.settings[0].rows;
  REQUIRE(three[1].row->row.id == "pre-3");
  REQUIRE(three[0].perplexity->mean == 5.5);
  REQUIRE_FALSE(three[0].perplexity_difference);
  // 4 - 5 and 3 - 6; 31 - 30 and 33 - 28.
  REQUIRE(three[1].perplexity_difference->mean == -2);
  REQUIRE(*three[1].perplexity_difference->standard_deviation == Approx(std::sqrt(2.0)));
  REQUIRE(three[1].bleu_difference->mean == 3);
  REQUIRE(*three[1].bleu_difference->standard_deviation == Approx(std::sqrt(8.0)));

  // The pair of the seed that diverged is left out.
  const auto& six = comparison.settings[1].rows;
  REQUIRE(six[0].done == 2);
  REQUIRE(six[0].diverged == 1);
  REQUIRE(six[0].perplexity->n == 1);
  REQUIRE(six[1].perplexity->n == 2);
  REQUIRE(six[1].bleu_difference->n == 1);
  REQUIRE(six[1].bleu_difference->mean == 35);

  REQUIRE(comparison.overall.size() == 2);
  REQUIRE(comparison.overall[0].diverged == 1);
  REQUIRE(comparison.overall[0].done == 4);
  REQUIRE_FALSE(comparison.overall[0].bleu_difference);
  REQUIRE(comparison.overall[1].bleu_difference->n == 3);
  REQUIRE(comparison.overall[1].bleu_difference->mean == Approx((1 + 5 + 35) / 3.0));
}

TEST_CASE("comparison: another baseline, several values, and a limit for divergence") {
  const Summary summary = summarize(two_by_two());
  auto options = kByPlacement;
  options.baseline = {"pre"};
  options.diverged_above = 50;
  const auto comparison = compare(summary, no_details, options);
  const auto& six = comparison.settings[1].rows;
  REQUIRE(six[0].diverged == 2);
  REQUIRE_FALSE(six[0].perplexity);
  REQUIRE_FALSE(six[0].bleu_difference);
  REQUIRE(comparison.settings[0].rows[0].perplexity_difference->mean == 2);

  const auto by_depth = compare(summary, no_details, {.keys = {"model.N"}});
  REQUIRE(by_depth.settings.size() == 2);
  REQUIRE(by_depth.settings[1].rows.size() == 3);  // pre with 3, 6 and 9 layers
  REQUIRE(by_depth.settings[1].rows[2].bleu_difference->mean == 5);
  REQUIRE(by_depth.settings[1].rows[2].bleu_difference->n == 1);

  const auto by_both = compare(summary, no_details, {.keys = {"model.N", "model.norm_placement"}});
  REQUIRE(by_both.settings.size() == 1);
  REQUIRE(by_both.settings[0].rows.size() == 5);
  REQUIRE(by_both.baseline == std::vector<std::string>{"3", "post"});
}

TEST_CASE("comparison: tests of BLEU are those of the two runs' sentences; none where they agree") {
  SentenceStatistics good(30), bad(30);
  for (size_t i = 0; i < good.size(); ++i) {
    good[i] = {{9, 7, 5, 3}, {9, 8, 7, 6}, 9, 9};
    bad[i] = {{i % 3 == 0 ? 4 : 9, 6, 4, 2}, {9, 8, 7, 6}, 9, 9};
  }
  const Summary summary = summarize(two_by_two());
  const auto details = [&](const RunRecord& run) {
    if (run.seed == 2 || run.id.ends_with("6")) return RunDetails{{}, good};
    return RunDetails{{}, run.id == "pre-3" ? good : bad};
  };
  auto options = kByPlacement;
  options.tests = {.bootstrap_samples = 50, .randomisation_trials = 60, .seed = 3};
  const auto comparison = compare(summary, details, options);
  const auto& tests = comparison.settings[0].rows[1].tests;
  REQUIRE(tests.size() == 2);
  REQUIRE(tests[0].bootstrap == paired_bootstrap(bad, good, options.tests));
  REQUIRE(tests[0].randomisation == approximate_randomisation(bad, good, options.tests));
  REQUIRE(tests[0].difference == 1);
  REQUIRE_FALSE(tests[1].bootstrap);
}

TEST_CASE(
    "comparison: steps to a perplexity are counted in validations, and not all may reach it") {
  const Summary summary = summarize(two_by_two());
  const auto details = [](const RunRecord& run) {
    RunDetails details;
    details.curve.validation = {{100, 9}, {200, 7.5}, {300, run.seed == 1 ? 6.0 : 7.0}};
    if (run.id == "pre-3") details.curve.validation = {{100, 6.5}, {200, 5}, {300, 4}};
    return details;
  };
  auto options = kByPlacement;
  options.reach = 6.5;
  const auto comparison = compare(summary, details, options);
  const auto& rows = comparison.settings[0].rows;
  REQUIRE(rows[0].reaching == 1);
  REQUIRE(rows[0].steps_to->mean == 300);
  REQUIRE(rows[1].reaching == 2);
  REQUIRE(rows[1].steps_to->mean == 100);
  const std::string text = format_comparison(summary, comparison, options, ComparisonFormat::text);
  REQUIRE_THAT(text, Contains("300 (1/2)") && Contains("steps to PPL 6.50"));
  const Json json = to_json(comparison, options);
  REQUIRE(json["settings"][0]["rows"][0]["runs"][1]["validation"][2]["perplexity"] == 7);
  REQUIRE(json["settings"][0]["rows"][0]["runs"][1]["reached"].is_null());
}

TEST_CASE("comparison: text and Markdown") {
  const Summary summary = summarize(two_by_two());
  const auto details = [](const RunRecord& run) {
    RunDetails details;
    for (int64_t step = 1; step <= 16; ++step) {
      details.curve.training.push_back({step * 10, 20.0 - static_cast<double>(step + run.seed)});
    }
    return details;
  };
  const auto comparison = compare(summary, details, kByPlacement);
  const std::string text =
      format_comparison(summary, comparison, kByPlacement, ComparisonFormat::text);
  REQUIRE(
      text.substr(0, text.find("Runs")) ==
      R"(                                                   difference to post               p of BLEU
  N  norm_placement    PPL (dev)  BLEU (dev)             PPL           BLEU  bootstrap  randomisation  diverged
───────────────────────────────────────────────────────────────────────────────────────────────────────────────
  3            post  5.50 ± 0.71  29.0 ± 1.4                                                                0/2
                pre  3.50 ± 0.71  32.0 ± 1.4    -2.00 ± 1.41     +3.0 ± 2.8                                 0/2
───────────────────────────────────────────────────────────────────────────────────────────────────────────────
  6            post        90.00         1.0                                                                1/2
                pre  3.25 ± 0.35  35.5 ± 0.7          -87.00          +35.0                                 0/2
───────────────────────────────────────────────────────────────────────────────────────────────────────────────
all            post                                                                                         1/4
                pre                           -30.33 ± 49.08   +13.7 ± 18.6                                 0/4
───────────────────────────────────────────────────────────────────────────────────────────────────────────────
)");
  REQUIRE_THAT(text,
               Contains("Diverged at step: post-6 seed 1 (41).") &&
                   Contains("Not compared, for no row differs from them in this alone: pre-9.") &&
                   Contains("perplexity in training, to step"));
  // Seeds 1 and 2 at the last step: 20 - 17 and 20 - 18.
  const std::string markdown =
      format_comparison(summary, comparison, kByPlacement, ComparisonFormat::markdown);
  REQUIRE_THAT(markdown, Contains("| 3 | post | 5.50 ± 0.71 | 29.0 ± 1.4 | | | | | 0/2 |") &&
                             Contains("| 3 | post | 16.50 | 14.50 | 12.50 | 10.50 | 8.50 | 6.50 | "
                                      "4.50 | 2.50 |"));
}

TEST_CASE("comparison: what cannot be compared is refused, with what could") {
  const Summary summary = summarize(two_by_two());
  const auto refuses = [&](const ComparisonOptions& options, const std::string& message) {
    REQUIRE_THROWS_WITH(compare(summary, no_details, options), Contains(message));
  };
  refuses({.keys = {"model.norm_place"}}, "unknown key; did you mean model.norm_placement?");
  refuses({.keys = {"tokens_per_batch"}},
          "could be data.tokens_per_batch, decoding.tokens_per_batch; name it whole");
  refuses({.keys = {"model.h"}},
          "model.h: is 8 in every row; keys that vary: model.norm_placement, model.N");
  refuses({.keys = {"training.seed"}}, "runs are paired by it");
  refuses({.keys = {"model.N", "N"}}, "model.N: is given twice");
  refuses({.keys = {"model.N"}, .baseline = {"4"}}, "no row has model.N = 4");
  Results diagonal = two_by_two();
  diagonal.rows = {placed("a", "post", 3), placed("b", "pre", 6)};
  diagonal.results = {done("a", 1, 5, 5), done("b", 1, 4, 6)};
  const Summary two = summarize(diagonal);
  REQUIRE_THROWS_WITH(compare(two, no_details, kByPlacement),
                      Contains("no two rows differ in this alone; what varies besides: model.N"));
}

TEST_CASE(
    "comparison: a run's own files tell its curve and, where they give its BLEU, its sentences") {
  const TemporaryFolder folder;
  const auto run_folder = folder / "row/seed-2";
  make_folder(run_folder);
  write_file(run_folder / "metrics.jsonl",
             "{\"step\": 10, \"nll\": 2.0}\n{\"step\": 10, \"valid_perplexity\": 7.5}\n"
             "{\"step\": 20, \"nll\": 1.0, \"loss\": 3}\n{\"step\": 30, \"nl");
  const std::vector<std::string> lines = {"a b c d e", "x y\nz", "", "q r s t"};
  const std::vector<std::string> references = {"a b c d e", "x y z", "k", "q r t s"};
  write_translations(run_folder, {lines, references});
  const auto details_of = details_in(folder.path());
  const auto run = done("row", 2, 7, corpus_bleu(lines, references).score);
  const auto details = details_of(run);
  REQUIRE(details.curve.training.size() == 2);
  REQUIRE(details.curve.training[0].perplexity == Approx(std::exp(2.0)));
  REQUIRE(details.curve.validation.size() == 1);
  REQUIRE(details.curve.validation[0].perplexity == 7.5);
  REQUIRE(first_step_at(details.curve.validation, 7.5) == 10);
  REQUIRE_FALSE(first_step_at(details.curve.validation, 7.4));
  REQUIRE((details.sentences == corpus_statistics(lines, references)));
  REQUIRE(details_of(done("row", 2, 7, 50)).sentences.empty());
  REQUIRE(details_of(done("other", 1, 7, 50)).curve.training.empty());
}
