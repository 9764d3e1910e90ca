#include "experiments/report.h"

#include "experiments/curves.h"
#include "experiments/html.h"
#include "experiments/table.h"
#include "tests/catch.h"
#include "tests/temporary_folder.h"
#include "transformer/files.h"

using Catch::Matchers::Contains;
using namespace transformer;

namespace {

const std::string kHostile = "</script><b title=\"x\">&'";

// Four complete rows, whose ranks by perplexity are the paper's reversed, and one that failed.
Results reported() {
  Results results;
  const Json config =
      Json::parse(R"({"model": {"N": 6, "d_model": 512}, "training": {"seed": 1}})");
  for (int i = 0; i < 5; ++i) {
    const std::string id = "row" + std::to_string(i);
    results.rows.push_back(
        {id, i == 0 ? "base" : "A", Json::object(), {5.0 + i, 20.0, std::nullopt}, config});
    if (i == 4) {
      results.results.push_back({id, 1, RunState::failed, {}, kHostile});
      continue;
    }
    Result result;
    result.perplexity = 9.0 - i;
    result.bleu = 10 + i;
    result.parameters = 1000 * (i + 1);
    result.flops = 1e12;
    result.version = kHostile;
    result.config = config;
    results.results.push_back({id, 1, RunState::complete, result});
  }
  return results;
}

int64_t count(const std::string& text, const std::string& part) {
  int64_t found = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

}  // namespace

TEST_CASE("html: whatever stands in a text, no tag, attribute or script ends") {
  REQUIRE(escaped_html(kHostile) == "&lt;/script&gt;&lt;b title=&quot;x&quot;&gt;&amp;&#39;");
  const Json json = {{"a", kHostile}};
  const std::string text = script_json(json);
  REQUIRE(text.find('<') == std::string::npos);
  REQUIRE(Json::parse(text) == json);
}

TEST_CASE("html: a table's sections span their columns, and wide cells theirs") {
  Table table;
  table.columns = {{"", "", true}, {"", "N"}, {"PPL", "ours"}, {"PPL", "paper"}};
  table.rows = {{"base", {{"base"}, {"6"}, {"5"}, {"4.92"}}}, {"E", {{"E <"}, {"words", 3}}}};
  table.notes = {"a & b"};
  const auto html = to_html(table);
  REQUIRE_THAT(html, Contains("<th scope=\"colgroup\" colspan=\"2\">PPL</th>"));
  REQUIRE_THAT(html, Contains("<tr><th scope=\"col\">ours</th><th scope=\"col\">paper</th></tr>"));
  REQUIRE_THAT(html, Contains("<th scope=\"row\" class=\"left\">E &lt;</th>"
                              "<td class=\"left\" colspan=\"3\">words</td>"));
  REQUIRE_THAT(html, Contains("<li>a &amp; b</li>"));
  REQUIRE(count(html, "<tbody>") == 2);
}

TEST_CASE("learning curve: every line with the key, thinned with the last kept, others left out") {
  const TemporaryFolder folder;
  std::string text = "{\"step\": 1, \"valid_perplexity\": 9}\nnot JSON\n{\"loss\": 1}\n";
  for (int i = 1; i <= 1000; ++i) {
    text += "{\"step\": " + std::to_string(i) + ", \"nll\": " + std::to_string(2 * i) + "}\n";
  }
  write_file(folder / "metrics.jsonl", text);
  const auto curve = learning_curve(folder / "metrics.jsonl", "nll", 100);
  REQUIRE(curve.size() == 100);
  REQUIRE(curve.back() == std::pair<int64_t, double>(1000, 2000));
  for (const auto& [step, value] : curve) REQUIRE(value == 2 * step);
  REQUIRE(learning_curve(folder / "metrics.jsonl", "valid_perplexity").size() == 1);
  REQUIRE(learning_curve(folder / "none.jsonl", "nll").empty());
}

TEST_CASE("charts: ranks from 1, ours against the paper's, of rows that have both") {
  const TemporaryFolder folder;
  for (const auto& chart : charts_of(summarize(reported()), folder.path())) {
    REQUIRE(chart.spec["data"]["values"].size() == 4);
    if (chart.id != "ranks") continue;
    for (const auto& record : chart.spec["data"]["values"]) {
      REQUIRE(record["ours"].get<double>() + record["paper"].get<double>() == 5);
    }
  }
}

TEST_CASE("report: texts from a sweep's files open no tag, with charts and without") {
  const TemporaryFolder folder;
  const auto summary = summarize(reported());
  const auto charts = charts_of(summary, folder.path());
  REQUIRE(charts.size() == 5);
  const Report report{
      kHostile, summary, {}, charts, {{3, kHostile, {{"base", kHostile}, {"E", "ein Haus"}}}}};
  const auto drawn = report_page(report, "const vega = 1;");
  const auto plain = report_page(report, "");
  for (const auto& page : {drawn, plain}) {
    REQUIRE(page.find("<b ") == std::string::npos);
    REQUIRE(count(page, "<script") == count(page, "</script>"));
    REQUIRE_THAT(page, Contains("Runs complete: 4 of 5."));
    REQUIRE_THAT(page, Contains("reference, line 3"));
    REQUIRE_THAT(page, Contains("ein Haus"));
    REQUIRE(count(page, "src=") + count(page, "href=\"http") + count(page, "@import") == 0);
  }
  REQUIRE_THAT(drawn, Contains("const vega = 1;"));
  REQUIRE_THAT(plain, Contains("built without npm"));
  REQUIRE(count(plain, "<script") == 0);
  REQUIRE(count(plain, "<figure") == 5);
}
