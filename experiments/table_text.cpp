#include <algorithm>

#include "experiments/display_width.h"
#include "experiments/table.h"

namespace transformer {

namespace {

constexpr size_t kWidest = 120;  // columns of a terminal that the table tries to keep

std::string padded(const std::string& text, size_t width, bool left_aligned) {
  const size_t used = display_width(text);
  const std::string space(width > used ? width - used : 0, ' ');
  return left_aligned ? text + space : space + text;
}

std::string without_trailing_space(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

// Lays cells out over the table's columns, with `gap` spaces between two.
class Grid {
 public:
  Grid(const Table& table, size_t gap) : table_(table), gap_(gap) {
    for (const auto& column : table.columns) widths_.push_back(display_width(column.heading));
    fit(sections());
    // Single cells first: a wide one takes only what its columns don't have already.
    for (const bool wide : {false, true}) {
      for (const auto& row : table.rows) fit(row.cells, wide);
    }
    fit(sections());
  }

  size_t width() const { return width(0, widths_.size()); }

  // A span is written from its left end, a section over the middle of its columns.
  std::string line(const std::vector<Cell>& cells, bool centred = false) const {
    std::string line;
    size_t column = 0;
    for (const auto& cell : cells) {
      if (column > 0) line += std::string(gap_, ' ');
      const size_t room = width(column, cell.span);
      const size_t free = room - std::min(room, display_width(cell.text));
      const std::string before(centred ? free / 2 : 0, ' ');
      const bool left = centred || cell.span > 1 || table_.columns[column].left_aligned;
      line += padded(before + cell.text, room, left);
      column += cell.span;
    }
    return without_trailing_space(line);
  }

  std::vector<Cell> sections() const {
    std::vector<Cell> cells;
    for (size_t i = 0; i < table_.columns.size(); ++i) {
      const auto& section = table_.columns[i].section;
      if (i > 0 && !section.empty() && section == table_.columns[i - 1].section) {
        ++cells.back().span;
      } else {
        cells.push_back({section});
      }
    }
    return cells;
  }

 private:
  size_t width(size_t first, size_t count) const {
    size_t sum = count == 0 ? 0 : gap_ * (count - 1);
    for (size_t i = first; i < first + count; ++i) sum += widths_[i];
    return sum;
  }

  void fit(const std::vector<Cell>& cells) {
    fit(cells, false);
    fit(cells, true);
  }

  void fit(const std::vector<Cell>& cells, bool wide) {
    size_t column = 0;
    for (const auto& cell : cells) {
      const size_t room = width(column, cell.span);
      const size_t needed = display_width(cell.text);
      if ((cell.span > 1) == wide && needed > room)
        widths_[column + cell.span - 1] += needed - room;
      column += cell.span;
    }
  }

  const Table& table_;
  size_t gap_;
  std::vector<size_t> widths_;
};

// Marks stand after their numbers, which stay one below the other.
Table with_marks_in_text(Table table) {
  std::vector<size_t> widths(table.columns.size(), 0);
  const auto each = [&](const auto& visit) {
    for (auto& row : table.rows) {
      size_t column = 0;
      for (auto& cell : row.cells) {
        if (cell.span == 1) visit(cell, widths[column]);
        column += cell.span;
      }
    }
  };
  each([](const Cell& cell, size_t& width) { width = std::max(width, cell.mark.size()); });
  each([](Cell& cell, size_t& width) { cell.text += padded(cell.mark, width, true); });
  return table;
}

}  // namespace

std::string to_text(const Table& marked) {
  const Table table = with_marks_in_text(marked);
  const Grid grid(table, Grid(table, 2).width() > kWidest ? 1 : 2);
  std::string rule;
  for (size_t i = 0; i < grid.width(); ++i) rule += "─";
  rule += "\n";

  std::string text;
  const auto sections = grid.sections();
  if (std::any_of(sections.begin(), sections.end(),
                  [](const Cell& c) { return !c.text.empty(); })) {
    text += grid.line(sections, true);
  }
  std::vector<Cell> headings;
  for (const auto& column : table.columns) headings.push_back({column.heading});
  text += grid.line(headings) + rule;
  for (size_t i = 0; i < table.rows.size(); ++i) {
    if (i > 0 && table.rows[i].group != table.rows[i - 1].group) text += rule;
    text += grid.line(table.rows[i].cells);
  }
  text += rule;
  for (const auto& note : table.notes) text += note + "\n";
  return text;
}

}  // namespace transformer
