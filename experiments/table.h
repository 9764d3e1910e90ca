#pragma once

// A table of results, and the formats it is written in.

#include <array>
#include <string>
#include <vector>

#include "experiments/summary.h"

namespace transformer {

struct Column {
  std::string section;  // stands over neighbouring columns that share it; may be empty
  std::string heading;
  bool left_aligned = false;
};

struct Cell {
  std::string text;
  size_t span = 1;  // columns
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

// With a row of group "base": the paper's Table 3, where a cell is blank that is as in base. Else a
// column for each key that varies. Ours stand beside the paper's figures where there are any.
Table results_table(const Summary& summary);

enum class TableFormat { text, markdown, latex, csv, json, html };
constexpr auto names(TableFormat) {
  return std::array{"text", "markdown", "latex", "csv", "json", "html"};
}

std::string to_text(const Table& table);      // aligned; UTF-8
std::string to_markdown(const Table& table);  // GitHub's
std::string to_latex(const Table& table);     // with booktabs
std::string to_html(const Table& table);      // a piece of a page: a table and a list of notes

// For programs: a row a line or object, every key stated, every digit kept.
std::string to_csv(const Summary& summary);
Json to_json(const Summary& summary);

std::string format_table(const Summary& summary, TableFormat format);

}  // namespace transformer
