#include "experiments/table.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>

#include "experiments/departures.h"
#include "experiments/layout.h"
#include "transformer/printable.h"

namespace transformer {

namespace {

std::string fixed(double value, int digits) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

// One of the three quantities of Table 3: where it is kept and how the paper writes it.
struct Quantity {
  std::string section;
  std::optional<Figure> RowSummary::*ours;
  std::optional<double> PaperFigures::*papers;
  double unit = 1;
  int digits = 0;
  bool in_paper = false;

  std::string shown(const std::optional<Figure>& figure) const {
    if (!figure) return "";
    std::string text = fixed(figure->mean / unit, digits);
    const auto& deviation = figure->standard_deviation;
    if (deviation && ours != &RowSummary::parameters)
      text += " ± " + fixed(*deviation / unit, digits);
    return text;
  }
};

// Whether rows whose figures differ are shown differently.
bool tells_apart(const Quantity& quantity, const Summary& summary) {
  std::map<std::string, double> shown;
  for (const auto& row : summary.rows) {
    const auto& figure = row.*quantity.ours;
    if (!figure) continue;
    const auto [same, is_new] = shown.emplace(quantity.shown(figure), figure->mean);
    if (!is_new && same->second != figure->mean) return false;
  }
  return true;
}

// The paper's digits suit its sizes; small models and easy corpora need more to be told apart.
std::vector<Quantity> quantities(const Summary& summary) {
  std::vector<Quantity> all = {
      {"PPL (dev)", &RowSummary::perplexity, &PaperFigures::perplexity, 1, 2},
      {"BLEU (dev)", &RowSummary::bleu, &PaperFigures::bleu, 1, 1},
      {"params ×10^6", &RowSummary::parameters, &PaperFigures::parameters, 1e6, 0}};
  for (auto& quantity : all) {
    double least = INFINITY;
    for (const auto& row : summary.rows) {
      if (row.row.paper.*quantity.papers) quantity.in_paper = true;
      if (row.*quantity.ours) least = std::min(least, (row.*quantity.ours)->mean / quantity.unit);
    }
    if (quantity.unit != 1) {
      quantity.digits = least >= 20 ? 0 : least >= 10 ? 1 : least >= 1 ? 2 : 3;
      const int most = least < 1 ? 4 : 3;
      while (quantity.digits < most && !tells_apart(quantity, summary)) ++quantity.digits;
    }
    if (quantity.ours == &RowSummary::perplexity && least < 2) quantity.digits = 3;
  }
  return all;
}

std::string group_label(const std::string& group) {
  return group.size() == 1 ? "(" + group + ")" : group;
}

std::vector<Cell> setting_cells(const RowSummary& row, const std::vector<std::string>& keys,
                                const RowSummary* base) {
  if (base != nullptr && only_positions_differ(row, *base)) {
    const std::string theirs = shown_value("model.positions", *base);
    return {{shown_value("model.positions", row) + " positions" +
                 (theirs.empty() ? "" : " instead of " + theirs),
             keys.size()}};
  }
  std::vector<Cell> cells;
  for (const auto& key : keys) {
    const std::string text = shown_value(key, row);
    const bool blank = base != nullptr && &row != base && text == shown_value(key, *base);
    cells.push_back({blank ? "" : text});
  }
  return cells;
}

std::string shown_runs(const RowSummary& row) {
  const std::string count = std::to_string(row.complete) + "/" + std::to_string(row.runs.size());
  const RunState state = state_of(row);
  return state == RunState::complete ? count : count + " " + name_of(state);
}

std::string joined(const std::vector<std::string>& all) {
  std::string text;
  for (const auto& one : all) text += (text.empty() ? "" : "; ") + one;
  return text;
}

std::string correlation_note(const Summary& summary) {
  std::string text;
  for (const auto& [name, correlation] :
       {std::pair{"PPL", &summary.perplexity}, {"BLEU", &summary.bleu}}) {
    if (!*correlation) continue;
    text += (text.empty() ? "" : ", ") + std::string(name) + " " +
            fixed((*correlation)->spearman, 2) + " (n = " + std::to_string((*correlation)->rows) +
            " rows)";
  }
  return text.empty() ? "" : "Spearman's rank correlation with the paper: " + text + ".";
}

bool is_begun(const RowSummary& row) {
  return std::any_of(row.runs.begin(), row.runs.end(),
                     [](const RunRecord& run) { return run.state != RunState::missing; });
}

// Rows with something to show: those that were begun, and base, which blank cells point to. All
// where none was begun.
std::vector<const RowSummary*> rows_to_show(const Summary& summary, const RowSummary* base) {
  const bool any = std::any_of(summary.rows.begin(), summary.rows.end(), is_begun);
  std::vector<const RowSummary*> rows;
  for (const auto& row : summary.rows) {
    if (!any || is_begun(row) || &row == base) rows.push_back(&row);
  }
  return rows;
}

std::string incomplete_note(const Summary& summary) {
  constexpr size_t kMost = 100;  // bytes of a message: the log has it whole
  std::vector<std::string> all;
  for (const auto& row : summary.rows) {
    if (!is_begun(row)) continue;
    for (const auto& run : row.runs) {
      if (run.state == RunState::complete || run.state == RunState::diverged) continue;
      std::string why = run.message.empty() ? "" : printable(run.message, kMost);
      if (!why.empty()) why = (run.state == RunState::failed ? ": " : " ") + why;
      all.push_back(row.row.id + " seed " + std::to_string(run.seed) + " (" + name_of(run.state) +
                    why + ")");
    }
  }
  return all.empty() ? "" : "Not complete, counted in no figure: " + joined(all) + ".";
}

std::string diverged_note(const Summary& summary) {
  std::vector<std::string> all;
  for (const auto& row : summary.rows) {
    for (const auto& run : row.runs) {
      if (run.state != RunState::diverged) continue;
      all.push_back(row.row.id + " seed " + std::to_string(run.seed) + " (at step " +
                    std::to_string(run.diverged_at.value_or(0)) + ")");
    }
  }
  return all.empty() ? "" : "Diverged, so without figures: " + joined(all) + ".";
}

std::string not_begun_note(const Summary& summary) {
  constexpr size_t kNamed = 8;
  std::string names;
  size_t count = 0;
  for (const auto& row : summary.rows) {
    if (is_begun(row)) continue;
    if (++count <= kNamed) names += (count == 1 ? "" : ", ") + row.row.id;
  }
  if (count == 0) return "";
  if (count > kNamed) names += " and " + std::to_string(count - kNamed) + " more";
  return "Not begun: " + names + ".";
}

std::vector<std::string> notes(const Summary& summary, bool with_base, bool several) {
  std::vector<std::string> all = {
      "Runs complete: " + std::to_string(summary.complete) + " of " + std::to_string(summary.runs) +
      (summary.diverged == 0 ? "." : "; " + std::to_string(summary.diverged) + " diverged.")};
  all.push_back(diverged_note(summary));
  all.push_back(incomplete_note(summary));
  all.push_back(not_begun_note(summary));
  if (several) all.push_back("±: sample standard deviation (n - 1) over a row's complete runs.");
  all.push_back(correlation_note(summary));
  if (with_base) all.push_back("Blank: as in base.");
  std::vector<RowRecord> begun;
  for (const auto& row : summary.rows) {
    if (is_begun(row) || row.row.group == "base") begun.push_back(row.row);
  }
  for (auto& note : departure_notes(begun)) all.push_back(std::move(note));
  all.push_back(
      "PPL: exp of the mean natural-log loss per target word-piece, end-of-sentence included, "
      "without "
      "label smoothing.");
  for (const auto& [name, values] : {std::pair{"BLEU: ", &summary.bleu_signatures},
                                     {"Machine: ", &summary.machines},
                                     {"Version: transformer ", &summary.versions}}) {
    if (!values->empty()) all.push_back(name + joined(*values));
  }
  std::erase(all, "");
  return all;
}

// What was read may be of any length and have what a terminal obeys.
void make_printable(Table& table) {
  constexpr size_t kMostOfCell = 200;
  constexpr size_t kMostOfNote = 10000;
  for (auto& column : table.columns) column.heading = printable(column.heading, kMostOfCell);
  for (auto& row : table.rows) {
    for (auto& cell : row.cells) cell.text = printable(cell.text, kMostOfCell);
  }
  for (auto& note : table.notes) note = printable(note, kMostOfNote);
}

}  // namespace

Table results_table(const Summary& summary) {
  const RowSummary* base = base_row(summary);
  const auto keys = column_keys(summary);
  const auto measured = quantities(summary);
  const auto rows = rows_to_show(summary, base);
  const bool several =
      std::any_of(rows.begin(), rows.end(), [](const auto* row) { return row->complete > 1; });
  const bool with_runs = std::any_of(rows.begin(), rows.end(), [](const auto* row) {
    return row->runs.size() != 1 || state_of(*row) != RunState::complete;
  });

  Table table;
  table.columns.push_back({"", base != nullptr ? "" : "row", true});
  for (const auto& heading : headings(keys)) table.columns.push_back({"", heading});
  for (const auto& quantity : measured) {
    if (quantity.in_paper) {
      table.columns.push_back({quantity.section, "ours"});
      table.columns.push_back({quantity.section, "paper"});
    } else {
      table.columns.push_back({"", quantity.section});
    }
  }
  if (with_runs) table.columns.push_back({"", "runs", true});

  std::string group_before;
  for (const auto* shown : rows) {
    const RowSummary& row = *shown;
    const bool first_of_group = table.rows.empty() || row.row.group != group_before;
    group_before = row.row.group;
    const std::string label = first_of_group ? group_label(row.row.group) : "";
    TableRow line{row.row.group, {{base != nullptr ? label : row.row.id}}};
    for (auto& cell : setting_cells(row, keys, base)) line.cells.push_back(std::move(cell));
    for (const auto& quantity : measured) {
      line.cells.push_back({quantity.shown(row.*quantity.ours)});
      if (!quantity.in_paper) continue;
      const auto& figure = row.row.paper.*quantity.papers;
      const int digits = quantity.unit != 1 ? 0 : std::min(quantity.digits, 2);
      line.cells.push_back({figure ? fixed(*figure / quantity.unit, digits) : ""});
    }
    if (with_runs) line.cells.push_back({shown_runs(row)});
    table.rows.push_back(std::move(line));
  }
  table.notes = notes(summary, base != nullptr, several);
  make_printable(table);
  return table;
}

std::string format_table(const Summary& summary, TableFormat format) {
  switch (format) {
    case TableFormat::text:
      return to_text(results_table(summary));
    case TableFormat::markdown:
      return to_markdown(results_table(summary));
    case TableFormat::latex:
      return to_latex(results_table(summary));
    case TableFormat::csv:
      return to_csv(summary);
    case TableFormat::html:
      return to_html(results_table(summary));
    case TableFormat::json:
      return text_of(to_json(summary), 2) + "\n";
  }
  return "";
}

}  // namespace transformer
