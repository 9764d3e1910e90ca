#include "tools/text_table.h"

#include <algorithm>
#include <cstdio>

#include "experiments/display_width.h"

namespace transformer {

void print_cells(std::ostream& out, const std::vector<std::vector<std::string>>& lines,
                 size_t left_aligned) {
  std::vector<size_t> widths(lines[0].size());
  for (const auto& cells : lines) {
    for (size_t i = 0; i < cells.size(); ++i) {
      widths[i] = std::max(widths[i], display_width(cells[i]));
    }
  }
  for (const auto& cells : lines) {
    std::string line;
    for (size_t i = 0; i < cells.size(); ++i) {
      const std::string space(widths[i] - display_width(cells[i]), ' ');
      line += (i == 0 ? "" : "  ") + (i < left_aligned ? cells[i] + space : space + cells[i]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out << line << "\n";
  }
}

std::string formatted(const char* pattern, double number) {
  char text[64];
  std::snprintf(text, sizeof text, pattern, number);
  return text;
}

}  // namespace transformer
