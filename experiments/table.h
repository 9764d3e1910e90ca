#pragma once

// A table of results, and the formats it is written in.

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "experiments/significance.h"
#include "experiments/summary.h"

namespace transformer {

struct Column {
  std::string section;  // stands over neighbouring columns that share it; may be empty
  std::string heading;
  bool left_aligned = false;
};

struct Cell {
  std::string text;
  size_t span = 1;     // columns
  std::string mark{};  // stands raised after the text, as * does
};

// A rule stands between rows of different groups, and a group's name in its first row.
struct TableRow {
  std::string group;
  std::vector<Cell> cells;
};

struct Table {
  std::vector<Column> columns;
  std::vector<TableRow> rows;
  std::vector<std::string> notes;  // a line each, below the table
};

// Another sweep's rows beside ours, by their ids.
struct OtherSweep {
  std::string own_name, name;  // over the columns
  Summary summary;
  PValues p_values{};  // to its own base; of data formats alone
};

struct TableOptions {
  // Names of quantities (quantities.h) and config keys, whole or their last part; empty: the
  // layout's own.
  std::vector<std::string> columns{};
  bool by_id = false;                 // rows have their ids, and groups do not show
  std::optional<PValues> p_values{};  // of rows' BLEU against base's, where they were tested
  std::optional<OtherSweep> other{};  // instead of the paper's figures
};

// With a row of group "base": the paper's Table 3, where a cell is blank that is as in base. Else a
// column for each key that varies. Ours stand beside the paper's figures, where there are any, with
// the difference. Throws UserError on a column that is not known.
Table results_table(const Summary& summary, const TableOptions& options = {});

// The rows by a column as in TableOptions: the best first of what is better or worse, else the
// smallest. Rows without a value come last. Throws UserError on a column that is not known.
Summary sorted(Summary summary, const std::string& column, bool reversed);

enum class TableFormat { text, markdown, latex, csv, json, html };
constexpr auto names(TableFormat) {
  return std::array{"text", "markdown", "latex", "csv", "json", "html"};
}

// Those for programs, which state all that there is.
constexpr bool is_data(TableFormat format) {
  return format == TableFormat::csv || format == TableFormat::json;
}

std::string to_text(const Table& table);      // aligned; UTF-8
std::string to_markdown(const Table& table);  // GitHub's
std::string to_latex(const Table& table);     // with booktabs
std::string to_html(const Table& table);      // a piece of a page: a table and a list of notes

// For programs: a row a line or object, every key stated, every digit kept. Of two sweeps the rows
// of one behind those of the other, by the sweeps' names.
std::string to_csv(const Summary& summary, const TableOptions& options = {});
Json to_json(const Summary& summary, const TableOptions& options = {});

// Throws UserError on columns in CSV or JSON, which state all that there is.
std::string format_table(const Summary& summary, TableFormat format,
                         const TableOptions& options = {});

}  // namespace transformer
