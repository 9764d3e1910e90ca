#include "experiments/html.h"
#include "experiments/table.h"

namespace transformer {

namespace {

// A section stands over neighbouring columns that share it; a heading without one over both lines.
std::string html_headings(const Table& table) {
  std::string above, below;
  for (size_t i = 0, end = 0; i < table.columns.size(); i = end) {
    const auto& [section, heading, left_aligned] = table.columns[i];
    end = i + 1;
    if (section.empty()) {
      above += std::string("<th scope=\"col\" rowspan=\"2\"") +
               (left_aligned ? " class=\"left\"" : "") + ">" + escaped_html(heading) + "</th>";
      continue;
    }
    while (end < table.columns.size() && table.columns[end].section == section) ++end;
    above += "<th scope=\"colgroup\" colspan=\"" + std::to_string(end - i) + "\">" +
             escaped_html(section) + "</th>";
    for (size_t k = i; k < end; ++k) {
      below += "<th scope=\"col\">" + escaped_html(table.columns[k].heading) + "</th>";
    }
  }
  return "<tr>" + above + "</tr>\n<tr>" + below + "</tr>\n";
}

std::string html_row(const Table& table, const TableRow& row) {
  std::string line;
  size_t column = 0;
  for (const auto& cell : row.cells) {
    const bool left = cell.span > 1 || table.columns[column].left_aligned;
    const std::string name = column == 0 ? "th scope=\"row\"" : "td";
    line += "<" + name + (left ? " class=\"left\"" : "") +
            (cell.span > 1 ? " colspan=\"" + std::to_string(cell.span) + "\"" : "") + ">" +
            escaped_html(cell.text) +
            (cell.mark.empty() ? "" : "<sup>" + escaped_html(cell.mark) + "</sup>") +
            (column == 0 ? "</th>" : "</td>");
    column += cell.span;
  }
  return "<tr>" + line + "</tr>\n";
}

}  // namespace

std::string to_html(const Table& table) {
  std::string text = "<table class=\"results\">\n<thead>\n" + html_headings(table) + "</thead>\n";
  for (size_t i = 0; i < table.rows.size(); ++i) {
    if (i == 0 || table.rows[i].group != table.rows[i - 1].group) {
      text += (i == 0 ? "" : "</tbody>\n") + std::string("<tbody>\n");
    }
    text += html_row(table, table.rows[i]);
  }
  text +=
      (table.rows.empty() ? "" : "</tbody>\n") + std::string("</table>\n<ul class=\"notes\">\n");
  for (const auto& note : table.notes) text += "<li>" + escaped_html(note) + "</li>\n";
  return text + "</ul>\n";
}

}  // namespace transformer
