#include "experiments/table.h"

#include <algorithm>
#include <set>

#include "experiments/layout.h"
#include "experiments/quantities.h"
#include "experiments/table_notes.h"
#include "transformer/config.h"
#include "transformer/error.h"
#include "transformer/printable.h"

namespace transformer {

namespace {

// What stands in the table: settings, then quantities.
struct Choice {
  std::vector<std::string> keys;
  std::vector<Quantity> measured;
};

std::optional<Quantity> quantity_named(const Summary& summary, const std::string& name) {
  for (auto& quantity : quantities(summary)) {
    if (quantity.name == name) return quantity;
  }
  return std::nullopt;
}

std::string key_named(const Summary& summary, const std::string& name, const std::string& option) {
  std::vector<std::string> measured;
  for (const auto& quantity : quantities(summary)) measured.push_back(quantity.name);
  return full_key(name, option, measured);
}

Choice chosen(const Summary& summary, const std::vector<std::string>& columns) {
  Choice choice;
  if (columns.empty()) {
    choice.keys = column_keys(summary);
    for (const char* name : {"PPL", "BLEU", "params"}) {
      choice.measured.push_back(*quantity_named(summary, name));
    }
  }
  std::set<std::string> named;
  for (const auto& name : columns) {
    if (!named.insert(name).second) {
      throw UserError("--columns: " + fields::shown_name(name) + ": is named twice");
    }
    if (auto quantity = quantity_named(summary, name)) {
      choice.measured.push_back(std::move(*quantity));
    } else {
      choice.keys.push_back(key_named(summary, name, "--columns"));
    }
  }
  return choice;
}

std::string group_label(const std::string& group) {
  return group.size() == 1 ? "(" + group + ")" : group;
}

std::vector<Cell> setting_cells(const RowSummary& row, const std::vector<std::string>& keys,
                                const RowSummary* base, bool in_words) {
  if (in_words && base != nullptr && only_positions_differ(row, *base)) {
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

std::string mark_of(const TableOptions& options, const RowSummary& row) {
  if (!options.p_values) return "";
  const auto p = options.p_values->find(row.row.id);
  if (p == options.p_values->end()) return "";
  return p->second < 0.01 ? "**" : p->second < 0.05 ? "*" : "";
}

// A quantity's columns: ours, and where there is something to set beside it, that and the
// difference of both.
class Columns {
 public:
  Columns(const Quantity& quantity, const Summary& summary, const TableOptions& options)
      : quantity_(quantity), options_(options) {
    for (const auto& row : summary.rows) {
      if (quantity.papers != nullptr && row.row.paper.*quantity.papers) in_paper_ = true;
    }
    if (options.other) in_paper_ = false;
    differs_ = options.other || (in_paper_ && quantity.ours != &RowSummary::parameters);
  }

  std::vector<Column> heads() const {
    const std::string& section = quantity_.heading;
    if (!options_.other && !in_paper_) return {{"", section}};
    std::vector<Column> columns = {
        {section, options_.other ? options_.other->own_name : std::string("ours")},
        {section, options_.other ? options_.other->name : std::string("paper")}};
    if (differs_) columns.push_back({section, "diff"});
    return columns;
  }

  std::vector<Cell> cells(const RowSummary& row) const {
    const auto& ours = row.*quantity_.ours;
    std::vector<Cell> cells = {{quantity_.shown(ours)}};
    if (quantity_.ours == &RowSummary::bleu) cells[0].mark = mark_of(options_, row);
    if (!options_.other && !in_paper_) return cells;
    std::optional<double> theirs;
    if (options_.other) {
      const RowSummary* other = row_of(options_.other->summary, row.row.id);
      const auto figure = other == nullptr ? std::optional<Figure>() : other->*quantity_.ours;
      cells.push_back({quantity_.shown(figure)});
      if (figure) theirs = figure->mean;
    } else {
      theirs = row.row.paper.*quantity_.papers;
      cells.push_back({quantity_.shown_paper(theirs)});
    }
    if (differs_) cells.push_back({ours && theirs ? difference(ours->mean, *theirs) : ""});
    return cells;
  }

 private:
  std::string difference(double ours, double theirs) const {
    const std::string text = fixed((ours - theirs) / quantity_.unit, std::min(quantity_.digits, 2));
    return text.starts_with("-") ? text : "+" + text;
  }

  const Quantity& quantity_;
  const TableOptions& options_;
  bool in_paper_ = false;
  bool differs_ = false;
};

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

Table results_table(const Summary& summary, const TableOptions& options) {
  const RowSummary* base = base_row(summary);
  const bool by_id = options.by_id || base == nullptr;
  const auto [keys, measured] = chosen(summary, options.columns);
  const auto rows = rows_to_show(summary, base);
  const bool with_runs = std::any_of(rows.begin(), rows.end(), [](const auto* row) {
    return row->runs.size() != 1 || state_of(*row) != RunState::complete;
  });

  Table table;
  table.columns.push_back({"", by_id ? "row" : "", true});
  for (const auto& heading : headings(keys)) table.columns.push_back({"", heading});
  std::vector<Columns> columns;
  for (const auto& quantity : measured) {
    columns.emplace_back(quantity, summary, options);
    for (auto& head : columns.back().heads()) table.columns.push_back(std::move(head));
  }
  if (with_runs) table.columns.push_back({"", "runs", true});

  std::string group_before;
  for (const auto* shown : rows) {
    const RowSummary& row = *shown;
    const bool first_of_group = table.rows.empty() || row.row.group != group_before;
    group_before = row.row.group;
    const std::string label = first_of_group ? group_label(row.row.group) : "";
    TableRow line{by_id ? "" : row.row.group, {{by_id ? row.row.id : label}}};
    for (auto& cell : setting_cells(row, keys, base, options.columns.empty()))
      line.cells.push_back(std::move(cell));
    for (const auto& quantity : columns) {
      for (auto& cell : quantity.cells(row)) line.cells.push_back(std::move(cell));
    }
    if (with_runs) line.cells.push_back({shown_runs(row)});
    table.rows.push_back(std::move(line));
  }
  table.notes = table_notes(summary, options);
  make_printable(table);
  return table;
}

Summary sorted(Summary summary, const std::string& column, bool reversed) {
  const auto quantity = quantity_named(summary, column);
  const std::string key = quantity ? "" : key_named(summary, column, "--sort");
  const auto value = [&](const RowSummary& row) -> std::optional<Json> {
    if (!quantity) {
      const auto found = row.values.find(key);
      return found == row.values.end() || found->is_null() ? std::optional<Json>() : *found;
    }
    const auto& figure = row.*quantity->ours;
    return figure ? std::optional<Json>(figure->mean) : std::nullopt;
  };
  const bool descending = (quantity && quantity->more_is_better) != reversed;
  std::stable_sort(summary.rows.begin(), summary.rows.end(),
                   [&](const RowSummary& one, const RowSummary& other) {
                     const auto a = value(one), b = value(other);
                     if (!a || !b) return a.has_value() && !b.has_value();
                     return descending ? *b < *a : *a < *b;
                   });
  return summary;
}

std::string format_table(const Summary& summary, TableFormat format, const TableOptions& options) {
  if (is_data(format) && !options.columns.empty()) {
    throw UserError("--format " + name_of(format) +
                    ": states every column, so --columns has no use with it");
  }
  switch (format) {
    case TableFormat::text:
      return to_text(results_table(summary, options));
    case TableFormat::markdown:
      return to_markdown(results_table(summary, options));
    case TableFormat::latex:
      return to_latex(results_table(summary, options));
    case TableFormat::csv:
      return to_csv(summary, options);
    case TableFormat::html:
      return to_html(results_table(summary, options));
    case TableFormat::json:
      return text_of(to_json(summary, options), 2) + "\n";
  }
  return "";
}

}  // namespace transformer
