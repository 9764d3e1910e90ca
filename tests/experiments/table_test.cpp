#include "experiments/table.h"

#include <cmath>
#include <filesystem>

#include "experiments/display_width.h"
#include "experiments/layout.h"
#include "experiments/significance.h"
#include "experiments/translation_samples.h"
#include "experiments/translations.h"
#include "tests/catch.h"
#include "tests/temporary_folder.h"

using Catch::Matchers::Contains;
using namespace transformer;
namespace fs = std::filesystem;

namespace {

RunRecord complete(const std::string& id, int64_t seed, double perplexity, double bleu,
                   int64_t parameters = 63'050'000) {
  Result result;
  result.perplexity = perplexity;
  result.bleu = bleu;
  result.parameters = parameters;
  result.seed = seed;
  result.bleu_signature = "nrefs:1|tok:13a";
  result.version = "0.1.0";
  result.machine = {.cpu = "A|B",
                    .cores = 2,
                    .memory_bytes = int64_t{8} << 30,
                    .vector_width = "avx2",
                    .system = "Linux 6"};
  return {id, seed, RunState::complete, result};
}

Json config(const std::string& overrides) {
  Json json = Json::parse(R"({"model": {"N": 6, "d_model": 512, "d_ff": 2048, "h": 8, "d_k": 64,
    "d_v": 64, "P_drop": 0.1, "positions": "sinusoidal", "norm_placement": "post"},
    "training": {"eps_ls": 0.1, "train_steps": 100000, "seed": 1}})");
  json.merge_patch(Json::parse(overrides));
  return json;
}

RowRecord row(const std::string& id, const std::string& group, const std::string& set,
              const std::string& overrides, const PaperFigures& paper = {}) {
  return {id, group, Json::parse(set), paper, config(overrides)};
}

// A corner of Table 3: base, one of (A), two of (D), (E).
Results corner() {
  Results results;
  results.rows = {row("base", "base", "{}", "{}", {4.92, 25.8, 65e6}),
                  row("A-h1", "A", R"({"model.h": 1, "model.d_k": 512, "model.d_v": 512})",
                      R"({"model": {"h": 1, "d_k": 512, "d_v": 512}})", {5.29, 24.9, {}}),
                  row("D-drop0", "D", R"({"model.P_drop": 0.0})", R"({"model": {"P_drop": 0.0}})",
                      {5.77, 24.6, {}}),
                  row("D-ls0", "D", R"({"training.eps_ls": 0.0})",
                      R"({"training": {"eps_ls": 0.0}})", {4.67, 25.3, {}}),
                  row("E", "E", R"({"model.positions": "learned"})",
                      R"({"model": {"positions": "learned"}})", {4.92, 25.7, {}})};
  results.results = {complete("base", 1, 5.1, 25), complete("A-h1", 1, 5.9, 23.04),
                     complete("D-drop0", 1, 5.5, 23.5), complete("D-ls0", 1, 4.8, 24.5),
                     complete("E", 1, 5.0, 25.2, 63'574'288)};
  return results;
}

std::string line_of(const std::string& text, const std::string& start) {
  const size_t at = text.rfind("\n" + start);
  REQUIRE(at != std::string::npos);
  return text.substr(at + 1, text.find('\n', at + 1) - at - 1);
}

}  // namespace

TEST_CASE("table: text in the layout of Table 3, blank where a row is as base") {
  const std::string text = to_text(results_table(summarize(corner())));
  REQUIRE(
      text.substr(0, text.find("Runs")) ==
      R"(                                                                      PPL (dev)          BLEU (dev)      params ×10^6
      N  d_model  d_ff  h  d_k  d_v  P_drop  eps_ls  train_steps  ours  paper   diff  ours  paper  diff  ours   paper
─────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
base  6      512  2048  8   64   64     0.1     0.1         100K  5.10   4.92  +0.18  25.0   25.8  -0.8    63      65
─────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
(A)                     1  512  512                               5.90   5.29  +0.61  23.0   24.9  -1.9    63
─────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
(D)                                     0.0                       5.50   5.77  -0.27  23.5   24.6  -1.1    63
                                                0.0               4.80   4.67  +0.13  24.5   25.3  -0.8    63
─────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
(E)   learned positions instead of sinusoidal                     5.00   4.92  +0.08  25.2   25.7  -0.5    64
─────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
)");
}

// Ours rank PPL 3 5 4 1 2 and the paper's 2.5 4 5 1 2.5: about 3, the products add to 8.5, the
// squares to 10 and 9.5. BLEU 4 1 2 3 5 against 5 2 1 3 4: d^2 adds to 4, so 1 - 24 / 120.
TEST_CASE("table: Spearman with the paper over rows that have both, ties shared") {
  auto results = corner();
  results.rows.push_back(row("X", "X", "{}", "{}"));  // without the paper's figures
  results.results.push_back(complete("X", 1, 1, 1));
  const auto summary = summarize(results);
  REQUIRE(summary.perplexity->spearman == Approx(8.5 / std::sqrt(10 * 9.5)));
  REQUIRE(summary.perplexity->rows == 5);
  REQUIRE(summary.bleu->spearman == Approx(0.8));
  REQUIRE_THAT(
      to_text(results_table(summary)),
      Contains("Spearman's rank correlation with the paper: PPL 0.87 (n = 5 rows), BLEU 0.80 "
               "(n = 5 rows).\n"));
}

TEST_CASE("table: several seeds give mean and sample standard deviation, missing ones are named") {
  auto results = corner();
  results.results = {
      complete("base", 1, 5, 25),      complete("base", 2, 7, 26),
      complete("A-h1", 1, 6, 24),      {"A-h1", 2, RunState::failed, {}, "loss is not finite"},
      {"E", 1, RunState::running, {}}, {"E", 2, RunState::missing, {}}};
  const auto summary = summarize(results);
  REQUIRE(summary.rows[0].perplexity->standard_deviation == Approx(std::sqrt(2.0)));
  REQUIRE_FALSE(summary.rows[1].perplexity->standard_deviation.has_value());
  REQUIRE(summary.rows[1].perplexity->n == 1);
  REQUIRE_FALSE(summary.rows[4].perplexity.has_value());

  const std::string text = to_text(results_table(summary));
  REQUIRE_THAT(line_of(text, "base"), Contains("6.00 ± 1.41  4.92 +1.08 25.5 ± 0.7  25.8 -0.3"));
  REQUIRE_THAT(line_of(text, "base"), Catch::Matchers::EndsWith("2/2"));
  REQUIRE_THAT(line_of(text, "(A)"), Catch::Matchers::EndsWith("1/2 failed"));
  REQUIRE_THAT(line_of(text, "(E)"), Catch::Matchers::EndsWith("0/2 running"));
  REQUIRE(line_of(text, "Runs") == "Runs complete: 3 of 6.");
  REQUIRE(line_of(text, "Not complete") ==
          "Not complete, counted in no figure: A-h1 seed 2 (failed: loss is not finite); E seed 1 "
          "(running); E seed 2 (missing).");
  REQUIRE(line_of(text, "Not begun") == "Not begun: D-drop0, D-ls0.");
  REQUIRE_THAT(text, !Contains("(D)"));
  REQUIRE_THAT(text, Contains("sample standard deviation (n - 1)"));
}

TEST_CASE("table: runs that diverged are done, and stand with the step at which they did") {
  auto results = corner();
  results.results = {complete("base", 1, 5, 25),
                     complete("base", 2, 7, 26),
                     complete("A-h1", 1, 6, 24),
                     {"A-h1", 2, RunState::diverged, {}, "step 41: the loss is not finite", 41}};
  const auto summary = summarize(results);
  REQUIRE(summary.diverged == 1);
  REQUIRE(state_of(summary.rows[1]) == RunState::diverged);
  REQUIRE(summary.rows[1].perplexity->n == 1);
  const std::string text = to_text(results_table(summary));
  REQUIRE_THAT(line_of(text, "(A)"), Catch::Matchers::EndsWith("1/2 diverged"));
  REQUIRE(line_of(text, "Runs") == "Runs complete: 3 of 4; 1 diverged.");
  REQUIRE(line_of(text, "Diverged") == "Diverged, so without figures: A-h1 seed 2 (at step 41).");
  REQUIRE_THAT(text, !Contains("Not complete"));
  REQUIRE(to_json(summary)["rows"][1]["incomplete"][0]["step"] == 41);
}

TEST_CASE("table: an interrupted run says where, and a long failure is cut") {
  auto results = corner();
  results.results[1] = {"A-h1", 1, RunState::interrupted, {}, "at step 300 of 900"};
  results.results[2] = {"D-drop0", 1, RunState::failed, {}, std::string(300, 'x') + "\x1b[2J"};
  const std::string text = to_text(results_table(summarize(results)));
  REQUIRE_THAT(line_of(text, "(A)"), Catch::Matchers::EndsWith("0/1 interrupted"));
  REQUIRE(line_of(text, "Not complete") ==
          "Not complete, counted in no figure: A-h1 seed 1 (interrupted at step 300 of 900); "
          "D-drop0 seed 1 (failed: " +
              std::string(100, 'x') + "...).");
}

TEST_CASE("table: rows never begun are counted below, but base stands, and all before the first") {
  auto results = corner();
  for (auto& run : results.results) {
    if (run.id != "A-h1") run = {run.id, 1, RunState::missing, {}};
  }
  std::string text = to_text(results_table(summarize(results)));
  REQUIRE_THAT(line_of(text, "base"), Catch::Matchers::EndsWith("0/1 missing"));
  REQUIRE_THAT(line_of(text, "(A)"), Contains("5.90"));
  REQUIRE_THAT(text, !Contains("(D)") && !Contains("(E)"));
  REQUIRE(line_of(text, "Not begun") == "Not begun: base, D-drop0, D-ls0, E.");
  REQUIRE_THAT(text, !Contains("Not complete"));
  for (auto& run : results.results) run = {run.id, 1, RunState::missing, {}};
  text = to_text(results_table(summarize(results)));
  REQUIRE_THAT(text, Contains("(D)") && Contains("(E)"));
}

TEST_CASE(
    "table: parameters have the digits that tell different counts apart, up to three or four") {
  auto results = corner();
  const auto shown = [&](int64_t base, int64_t other) {
    results.results[0] = complete("base", 1, 5.1, 25, base);
    results.results[4] = complete("E", 1, 5, 25.2, other);
    for (size_t i : {1, 2, 3}) results.results[i].result->parameters = base;
    const std::string text = to_markdown(results_table(summarize(results)));
    const std::string line = line_of(text, "| base");
    return line.substr(0, line.rfind(" | 65 |")).substr(line.find("-0.8 | ") + 7);
  };
  REQUIRE(shown(63'050'000, 65'050'000) == "63");
  REQUIRE(shown(63'050'000, 63'350'000) == "63.0");
  REQUIRE(shown(63'010'000, 63'011'000) == "63.010");
  REQUIRE(shown(1'830'000, 1'790'000) == "1.83");
  REQUIRE(shown(10'720, 11'248) == "0.0107");
}

TEST_CASE("table: with three rows there is no rank correlation") {
  auto results = corner();
  results.results.resize(3);
  REQUIRE_FALSE(summarize(results).perplexity);
  results.results.push_back(complete("E", 1, 5, 25));
  REQUIRE(summarize(results).perplexity);
}

TEST_CASE("table: Table 3 is at most 120 columns wide") {
  auto results = corner();
  for (const auto& item : corner().results) {
    results.results.push_back(
        complete(item.id, 2, item.result->perplexity + 12, *item.result->bleu));
  }
  const std::string text = to_text(results_table(summarize(results)));
  for (size_t start = 0; start < text.find("Runs");) {
    const size_t end = text.find('\n', start);
    REQUIRE(display_width(std::string_view(text).substr(start, end - start)) <= 120);
    start = end + 1;
  }
}

TEST_CASE("table: a key outside Table 3 becomes a column beside it") {
  auto results = corner();
  results.rows.push_back(row("pre", "F", R"({"model.norm_placement": "pre"})",
                             R"({"model": {"norm_placement": "pre"}})"));
  results.rows.push_back(row("both", "F", R"({"model.positions": "learned", "model.N": 2})",
                             R"({"model": {"positions": "learned", "N": 2}})"));
  const auto keys = column_keys(summarize(results));
  REQUIRE(keys.size() == 11);
  REQUIRE(keys[9] == "model.positions");  // "both" has no room to say it in words
  REQUIRE(keys[10] == "model.norm_placement");
}

TEST_CASE("table: without a base, what varies is a column and the paper is not mentioned") {
  Results results;
  results.rows = {row("h=1", "", R"({"model.h": 1, "model.N": 6})", R"({"model": {"h": 1}})"),
                  row("h=_2|*", "", R"({"model.h": 2, "model.N": 6})", R"({"model": {"h": 2}})")};
  results.results = {complete("h=1", 1, 1.0312, 99.5, 672'000),
                     complete("h=_2|*", 1, 1.25, 98, 1'200'000)};
  const std::string text = to_markdown(results_table(summarize(results)));
  REQUIRE(text.substr(0, text.find("\n\n")) ==
          "| row | h | PPL (dev) | BLEU (dev) | params ×10^6 |\n"
          "| :-- | --: | --: | --: | --: |\n"
          "| h=1 | 1 | 1.031 | 99.5 | 0.672 |\n"
          "| h=\\_2\\|\\* | 2 | 1.250 | 98.0 | 1.200 |");
  REQUIRE_THAT(text, Contains("- BLEU: nrefs:1\\|tok:13a\n"));
  REQUIRE_THAT(text, !Contains("Spearman"));
  REQUIRE_THAT(text, !Contains("paper"));
}

TEST_CASE("table: Markdown has a cell for each column, section and heading in one") {
  const std::string text = to_markdown(results_table(summarize(corner())));
  REQUIRE(
      text.substr(0, text.find('\n')) ==
      "| | N | d_model | d_ff | h | d_k | d_v | P_drop | eps_ls | train_steps | PPL (dev) ours "
      "| PPL (dev) paper | PPL (dev) diff | BLEU (dev) ours | BLEU (dev) paper | BLEU (dev) diff "
      "| params ×10^6 ours | params ×10^6 paper |");
  REQUIRE(line_of(text, "| (A)") ==
          "| (A) | | | | 1 | 512 | 512 | | | | 5.90 | 5.29 | +0.61 | 23.0 | 24.9 | -1.9 | 63 | |");
  REQUIRE(line_of(text, "| (E)") ==
          "| (E) | learned positions instead of sinusoidal | | | | | | | | | 5.00 | 4.92 | +0.08 | "
          "25.2 | 25.7 | -0.5 | 64 | |");
}

TEST_CASE("table: LaTeX with the paper's symbols, special characters harmless") {
  const std::string text = to_latex(results_table(summarize(corner())));
  REQUIRE_THAT(text, Contains("& $N$ & $d_{\\mathrm{model}}$ &"));
  REQUIRE_THAT(text, Contains("\\multicolumn{2}{c}{params $\\times 10^6$}"));
  REQUIRE_THAT(text,
               Contains("(E) & \\multicolumn{9}{l}{learned positions instead of sinusoidal} &"));
  REQUIRE_THAT(text, Contains("Machine: A\\ensuremath{|}B, 2 cores"));
}

TEST_CASE("table: CSV and JSON keep every digit and state every key") {
  auto results = corner();
  results.rows[1].id = "A,\"h1\"";
  results.results[1].id = "A,\"h1\"";
  const auto summary = summarize(results);
  REQUIRE_THAT(to_csv(summary),
               Contains("\n\"A,\"\"h1\"\"\",A,6,512,2048,1,512,512,0.1,0.1,100000,"
                        "complete,1,1,0,5.9,,5.29,23.04,,24.9,63050000.0,,,0.0,0.0,0.0,0.0,\n"));
  const Json json = to_json(summary);
  REQUIRE(json["rows"][1]["bleu"]["mean"] == 23.04);
  REQUIRE(json["rows"][1]["paper"]["parameters"].is_null());
  REQUIRE(json["rank_correlation_with_paper"]["bleu"]["rows"] == 5);
}

TEST_CASE("display width: wide characters take two columns, combining ones none") {
  REQUIRE(display_width("") == 0);
  REQUIRE(display_width("±×") == 2);
  REQUIRE(display_width("日本") == 4);
  REQUIRE(display_width("e\xcc\x81") == 1);
  REQUIRE(display_width("😀") == 2);
  REQUIRE(display_width("\xff\xe2\x82") == 2);  // not UTF-8: no crash
}

TEST_CASE("table: columns by name, in their order, with any key of a config") {
  TableOptions options{.columns = {"d_k", "BLEU", "norm_placement", "time", "PPL"}, .by_id = true};
  const std::string text = to_markdown(results_table(summarize(corner()), options));
  REQUIRE(text.substr(0, text.find('\n')) ==
          "| row | d_k | norm_placement | BLEU (dev) ours | BLEU (dev) paper | BLEU (dev) diff | "
          "minutes | PPL (dev) ours | PPL (dev) paper | PPL (dev) diff |");
  REQUIRE(line_of(text, "| A-h1") ==
          "| A-h1 | 512 | | 23.0 | 24.9 | -1.9 | 0.0 | 5.90 | 5.29 | +0.61 |");
  options.columns = {"d_q"};
  REQUIRE_THROWS_WITH(results_table(summarize(corner()), options),
                      Contains("--columns: d_q: unknown name; known: PPL, BLEU"));
  REQUIRE_THROWS_WITH(format_table(summarize(corner()), TableFormat::csv, options),
                      Contains("--columns has no use with it"));
}

TEST_CASE("table: rows by a column, the best first, without a figure last") {
  auto results = corner();
  results.results[2] = {"D-drop0", 1, RunState::missing, {}};
  const auto order = [&](const std::string& column, bool reversed) {
    std::string ids;
    for (const auto& row : sorted(summarize(results), column, reversed).rows) {
      ids += (ids.empty() ? "" : " ") + row.row.id;
    }
    return ids;
  };
  REQUIRE(order("PPL", false) == "D-ls0 E base A-h1 D-drop0");
  REQUIRE(order("PPL", true) == "A-h1 base E D-ls0 D-drop0");
  REQUIRE(order("BLEU", false) == "E base D-ls0 A-h1 D-drop0");
  REQUIRE(order("P_drop", false) == "D-drop0 base A-h1 D-ls0 E");
  REQUIRE_THROWS_WITH(order("perplexity", false), Contains("--sort: perplexity: unknown name"));
  REQUIRE_THROWS_WITH(order("ppl", false),
                      Contains("--sort: ppl: unknown name; did you mean PPL?"));
}

TEST_CASE("table: another sweep's rows stand beside by id") {
  auto others = corner();
  others.rows.pop_back();
  others.results.pop_back();
  others.results[1].result->perplexity = 5.4;
  others.rows.push_back(row("F", "F", "{}", "{}"));
  TableOptions options{.by_id = true, .other = OtherSweep{"one", "two", summarize(others)}};
  options.columns = {"PPL"};
  const std::string text = to_markdown(results_table(summarize(corner()), options));
  REQUIRE_THAT(text, Contains("| row | PPL (dev) one | PPL (dev) two | PPL (dev) diff |"));
  REQUIRE(line_of(text, "| A-h1") == "| A-h1 | 5.90 | 5.40 | +0.50 |");
  REQUIRE(line_of(text, "| E") == "| E | 5.00 | | |");
  REQUIRE_THAT(text, Contains("- Only in one: E; only in two: F.\n"));
  REQUIRE_THAT(text, Contains("- one: Runs complete: 5 of 5.\n"));
  REQUIRE_THAT(text, Contains("- two: Runs complete: 4 of 4.\n"));

  options.columns.clear();
  const Json sweeps = to_json(summarize(corner()), options)["sweeps"];
  REQUIRE(sweeps.size() == 2);
  REQUIRE(sweeps[0]["name"] == "one");
  REQUIRE(sweeps[1]["name"] == "two");
  REQUIRE(sweeps[1]["rows"][1]["perplexity"]["mean"] == 5.4);
  const std::string csv = to_csv(summarize(corner()), options);
  REQUIRE(csv.starts_with("sweep,id,group,N,"));
  REQUIRE(line_of(csv, "one,A-h1").starts_with("one,A-h1,A,"));
  REQUIRE_THAT(line_of(csv, "two,A-h1"), Contains(",5.4,"));
  REQUIRE(std::ranges::count(csv, '\n') == 11);  // the head, 5 rows, 5 rows
}

// Of 20 sentences, one is wrong in base, another one in E, and all in A-h1.
TEST_CASE("table: marks where BLEU differs from base's by more than the sentences' choice") {
  const std::string right = "one two three four five", wrong = "six seven eight nine ten";
  auto results = corner();
  const auto details = [&](const RunRecord& run) {
    const std::vector<std::string> references(20, right);
    std::vector<std::string> made = references;
    made[run.id == "E" ? 3 : 5] = wrong;
    if (run.id == "A-h1") made.assign(20, wrong);
    return RunDetails{{}, corpus_statistics(made, references)};
  };
  const auto summary = summarize(results);
  const auto p_values = p_values_to_base(summary, details);
  REQUIRE(p_values.count("base") == 0);
  REQUIRE(p_values.at("A-h1") < 0.01);
  REQUIRE(p_values.at("D-drop0") > 0.05);  // the same translations
  REQUIRE(p_values.at("E") > 0.05);
  const TableOptions options{.p_values = p_values};
  const std::string text = to_text(results_table(summary, options));
  REQUIRE_THAT(text, !Contains("Not tested"));
  REQUIRE_THAT(line_of(text, "(A)"), Contains("23.0**"));
  REQUIRE_THAT(line_of(text, "(E)"), Contains("25.2 "));
  REQUIRE_THAT(text, Contains("\n*, **: BLEU differs from base's, p < 0.05 or 0.01"));
  REQUIRE_THAT(to_latex(results_table(summary, options)), Contains("23.0$^{**}$"));
  REQUIRE_THAT(to_html(results_table(summary, options)), Contains("23.0<sup>**</sup>"));
  REQUIRE_THAT(to_markdown(results_table(summary, options)), Contains("23.0\\*\\*"));
  REQUIRE(to_json(summary, options)["rows"][1]["bleu_p_value_to_base"] == p_values.at("A-h1"));
}

TEST_CASE("table: says which rows no mark could be given to, and which have no files any more") {
  auto results = corner();
  results.results[1].is_lost = results.results[4].is_lost = true;
  const auto without = [](const std::string& lost) {
    return [lost](const RunRecord& run) {
      if (run.id == lost) return RunDetails{};
      const std::vector<std::string> lines(5, "one two three four five");
      return RunDetails{{}, corpus_statistics(lines, lines)};
    };
  };
  const auto shown = [&](const std::string& lost) {
    const auto summary = summarize(results);
    const TableOptions options{.p_values = p_values_to_base(summary, without(lost))};
    return to_markdown(results_table(summary, options));
  };
  const std::string untested =
      "Not tested, as translations of a seed are not there both of base and of ";
  REQUIRE_THAT(shown("A-h1"), Contains("number of rows). " + untested + "A-h1.\n"));
  REQUIRE_THAT(shown("base"), Contains("- " + untested + "A-h1, D-drop0, D-ls0, E.\n"));
  REQUIRE_THAT(shown(""), !Contains("Not tested"));
  REQUIRE_THAT(shown(""), Contains("- From results.json alone, the runs' own result.json being "
                                   "gone: A-h1 seed 1; E seed 1.\n"));
  for (auto& run : results.results) run.is_lost = run.result.has_value();
  REQUIRE_THAT(shown(""), Contains("being gone: all runs.\n"));
  const auto untold = to_markdown(results_table(summarize(results)));
  REQUIRE_THAT(untold, !Contains("Not tested"));  // nobody asked for tests
}

TEST_CASE("translation samples: evenly spaced, rows of the same references side by side") {
  const TemporaryFolder folder;
  const auto summary = summarize(corner());
  const auto write = [&](const std::string& id, const Translations& translations) {
    fs::create_directories(folder / id / "seed-1");
    write_translations(folder / id / "seed-1", translations);
  };
  write("base", {{"a", "b", "c", "d"}, {"A", "B", "C", "D"}});
  write("A-h1", {{"e", "f", "g", "h"}, {"A", "B", "C", "D"}});
  write("E", {{"x"}, {"X"}});
  const auto samples = translation_samples(summary, folder.path(), 2);
  REQUIRE(samples.size() == 2);
  REQUIRE(samples[1].line == 3);
  REQUIRE(samples[1].reference == "C");
  REQUIRE(samples[1].translations ==
          std::vector<std::pair<std::string, std::string>>{{"base", "c"}, {"A-h1", "g"}});
}
