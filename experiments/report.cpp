#include "experiments/report.h"

#include <cstdio>
#include <fstream>

#include "experiments/html.h"
#include "experiments/layout.h"
#include "experiments/table.h"

namespace transformer {
namespace fs = std::filesystem;

namespace {

constexpr const char* kGenerator = "<meta name=\"generator\" content=\"transformer report\">";

std::string title_element(const std::string& title) {
  return "<title>" + escaped_html(title) + "</title>";
}

// Colours from the reader's system, light or dark. Charts keep their own on paper.
constexpr const char* kStyle = R"(
:root { color-scheme: light dark; --line: #8884; --soft: #8881; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 0 auto; padding: 1rem; }
h1, h2, h3 { line-height: 1.2; } sup { line-height: 0; } h2 { margin-top: 2.5rem; }
nav a { margin-right: 1rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .9rem; }
th, td { padding: .15rem .6rem; text-align: right; white-space: nowrap; }
th { font-weight: 600; } .left { text-align: left; }
table.results { border-top: 2px solid; border-bottom: 2px solid; }
thead tr:last-child > *, tbody { border-bottom: 1px solid var(--line); }
tbody tr:hover { background: var(--soft); }
figure { margin: 1.5rem 0; } .chart { width: 100%; }
.notes { font-size: .9rem; } .missing { border-left: 4px solid #c80; padding-left: .8rem; }
details { margin: .5rem 0; } summary { cursor: pointer; }
@media print { nav, details:not([open]) { display: none; } body { max-width: none; }
  figure, tbody { break-inside: avoid; } }
)";

constexpr const char* kDraw = R"(
const dark = matchMedia('(prefers-color-scheme: dark)');
async function draw() {
  for (const figure of document.querySelectorAll('figure[data-chart]')) {
    const spec = JSON.parse(figure.querySelector('script').textContent);
    await vegaEmbed(figure.querySelector('.chart'), spec, {
      renderer: 'svg', theme: dark.matches ? 'dark' : undefined, config: {background: null},
      actions: {export: true, source: false, compiled: false, editor: false}});
  }
}
dark.addEventListener('change', draw);
draw();
)";

std::string number(double value, const char* format = "%.6g") {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

std::string cell_text(const Json& json) {
  if (json.is_null()) return "";
  if (json.is_string()) return json.get<std::string>();
  if (json.is_number_float()) return number(json.get<double>());
  return text_of(json);
}

// Of records with the same keys.
std::string records_table(const Json& records) {
  if (records.empty()) return "";
  std::string text = "<div class=\"scroll\"><table><thead><tr>";
  for (const auto& [key, unused] : records[0].items()) {
    text += "<th scope=\"col\">" + escaped_html(key) + "</th>";
  }
  text += "</tr></thead><tbody>\n";
  for (const auto& record : records) {
    text += "<tr>";
    for (const auto& [unused, value] : record.items()) {
      text += "<td>" + escaped_html(cell_text(value)) + "</td>";
    }
    text += "</tr>\n";
  }
  return text + "</tbody></table></div>\n";
}

// A chart's records; of a learning curve's many the last of each run.
std::string chart_table(const Json& records) {
  if (!records.at(0).contains("step")) return records_table(records);
  Json last = Json::array();
  for (size_t i = 0; i < records.size(); ++i) {
    const bool ends = i + 1 == records.size() || records[i + 1]["row"] != records[i]["row"] ||
                      records[i + 1]["seed"] != records[i]["seed"];
    if (ends) last.push_back(records[i]);
  }
  return records_table(last);
}

std::string figure_of(const Chart& chart, bool drawn) {
  const std::string id = escaped_html(chart.id);
  const auto& values = chart.spec["data"]["values"];
  std::string text = "<figure id=\"" + id + "\"" + (drawn ? " data-chart" : "") + ">\n<h3>" +
                     escaped_html(chart.title) + "</h3>\n";
  if (drawn) {
    text += "<div class=\"chart\" role=\"img\" aria-label=\"" +
            escaped_html(chart.spec["description"].get<std::string>()) + "\"></div>\n" +
            "<script type=\"application/json\">" + script_json(chart.spec) + "</script>\n";
  }
  text += "<figcaption>" + escaped_html(chart.text) + "</figcaption>\n<details" +
          (drawn ? "" : " open") + "><summary>Figures" +
          (values.at(0).contains("step") ? ", the last of each run" : "") + "</summary>" +
          chart_table(values) + "</details>\n</figure>\n";
  return text;
}

std::string runs_table(const Summary& summary) {
  Json records = Json::array();
  for (const auto& row : summary.rows) {
    for (const auto& run : row.runs) {
      Json record = {{"row", row.row.id}, {"seed", run.seed}, {"state", name_of(run.state)}};
      const auto& result = run.result;
      const auto add = [&](const char* key, auto value) {
        record[key] = result ? Json(value()) : Json();
      };
      add("perplexity", [&] { return result->perplexity; });
      add("BLEU", [&] { return fields::write(result->bleu); });
      add("parameters", [&] { return result->parameters; });
      add("steps", [&] { return result->train_steps; });
      add("target tokens", [&] { return result->target_tokens; });
      add("minutes", [&] { return result->seconds / 60; });
      add("tokens/s", [&] { return result->tokens_per_second; });
      add("MiB at most", [&] { return static_cast<double>(result->peak_memory_bytes >> 20); });
      add("commit", [&] { return result->commit; });
      record["message"] = run.message;
      records.push_back(record);
    }
  }
  return records_table(records);
}

std::string translations_section(const std::vector<TranslationSample>& samples) {
  if (samples.empty()) return "<p>No run has kept any yet.</p>\n";
  std::string text;
  for (const auto& sample : samples) {
    text += "<details" + std::string(&sample == &samples.front() ? " open" : "") + "><summary>" +
            escaped_html(sample.reference) +
            "</summary><div class=\"scroll\"><table><tbody>\n<tr><th class=\"left\" "
            "scope=\"row\">reference, line " +
            std::to_string(sample.line) + "</th><td class=\"left\">" +
            escaped_html(sample.reference) + "</td></tr>\n";
    for (const auto& [row, translation] : sample.translations) {
      text += "<tr><th class=\"left\" scope=\"row\">" + escaped_html(row) +
              "</th><td class=\"left\">" + escaped_html(translation) + "</td></tr>\n";
    }
    text += "</tbody></table></div></details>\n";
  }
  return text;
}

// The base row's whole config (the first row's without a base), and where others differ from it.
std::string configs_section(const Summary& summary) {
  std::string text;
  const RowSummary* base = base_row(summary);
  if (base == nullptr && !summary.rows.empty()) base = &summary.rows[0];
  if (base == nullptr) return text;
  text += "<details><summary>The whole config of " + escaped_html(base->row.id) +
          "</summary><div class=\"scroll\"><table><tbody>\n";
  for (const auto& [key, value] : base->values.items()) {
    text += "<tr><th class=\"left\" scope=\"row\">" + escaped_html(key) +
            "</th><td class=\"left\">" + escaped_html(cell_text(value)) + "</td></tr>\n";
  }
  text +=
      "</tbody></table></div></details>\n<div class=\"scroll\"><table><thead><tr><th "
      "scope=\"col\" class=\"left\">row</th><th scope=\"col\" class=\"left\">differs from " +
      escaped_html(base->row.id) + " in</th></tr></thead><tbody>\n";
  for (const auto& row : summary.rows) {
    std::string differs;
    for (const auto& [key, value] : row.values.items()) {
      if (base->values.value(key, Json()) == value) continue;
      differs += (differs.empty() ? "" : ", ") + key + " = " + cell_text(value);
    }
    text += "<tr><th class=\"left\" scope=\"row\">" + escaped_html(row.row.id) +
            "</th><td class=\"left\">" + escaped_html(differs.empty() ? "nothing" : differs) +
            "</td></tr>\n";
  }
  return text + "</tbody></table></div>\n";
}

}  // namespace

bool is_report_of(const fs::path& page, const std::string& title) {
  constexpr size_t kHead = 4000;
  if (!fs::is_regular_file(page)) return false;  // nothing to read from a pipe
  std::ifstream in(page, std::ios::binary);
  std::string head(kHead, '\0');
  in.read(head.data(), kHead);
  head.resize(static_cast<size_t>(in.gcount()));
  return head.find(kGenerator) != std::string::npos &&
         head.find(title_element(title)) != std::string::npos;
}

std::string report_page(const Report& report, std::string_view scripts) {
  const auto& [title, summary, table, charts, samples] = report;
  const bool drawn = !scripts.empty() && !charts.empty();
  const std::string name = escaped_html(title);
  std::string page =
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n" +
      std::string(kGenerator) + "\n" +
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      // Nothing is fetched. Vega compiles its expressions, which counts as eval.
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
      "'unsafe-inline'; script-src 'unsafe-inline' 'unsafe-eval'; img-src data: "
      "blob:\">\n" +
      title_element(title) + "\n<style>" + kStyle + "</style>\n</head>\n<body>\n<h1>" + name +
      "</h1>\n<nav aria-label=\"Sections\"><a href=\"#results\">Results</a><a href=\"#charts\">"
      "Charts</a><a href=\"#translations\">Translations</a><a href=\"#runs\">Runs</a>"
      "<a href=\"#configs\">Configs</a></nav>\n<main>\n"
      "<h2 id=\"results\">Results</h2>\n<div class=\"scroll\">\n" +
      to_html(results_table(summary, table)) + "</div>\n<h2 id=\"charts\">Charts</h2>\n";
  if (charts.empty()) page += "<p>Nothing to draw yet.</p>\n";
  if (!charts.empty() && !drawn) {
    page +=
        "<p class=\"missing\">This program was built without npm, from which the drawing library "
        "comes: the charts' figures stand in tables, and their Vega-Lite specifications beside "
        "this page.</p>\n";
  }
  for (const auto& chart : charts) page += figure_of(chart, drawn);
  page += "<h2 id=\"translations\">Translations</h2>\n" + translations_section(samples) +
          "<h2 id=\"runs\">Runs</h2>\n" + runs_table(summary) +
          "<h2 id=\"configs\">Configs</h2>\n" + configs_section(summary) + "</main>\n";
  if (drawn) {
    page += "<script>" + std::string(scripts) + "</script>\n<script>" + kDraw + "</script>\n";
  }
  return page + "</body>\n</html>\n";
}

}  // namespace transformer
