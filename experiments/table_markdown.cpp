#include <cctype>

#include "experiments/table.h"

namespace transformer {

namespace {

bool is_word(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return std::isalnum(byte) != 0 || byte >= 0x80;
}

// So that the text is shown as it is. An underscore inside a word, as in d_model, means nothing
// there.
std::string markdown_text(const std::string& text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool inside =
        i > 0 && i + 1 < text.size() && is_word(text[i - 1]) && is_word(text[i + 1]);
    const bool special = std::string("\\|*`<>[]~").find(c) != std::string::npos;
    if (special || (c == '_' && !inside)) out += '\\';
    out += c == '\n' || c == '\r' ? ' ' : c;
  }
  return out;
}

std::string markdown_line(const std::vector<std::string>& cells) {
  std::string line = "|";
  for (const auto& cell : cells) line += cell.empty() ? " |" : " " + cell + " |";
  return line + "\n";
}

}  // namespace

// Markdown has one line of headings and no spans: a section goes into its columns' headings, and a
// span into its first cell.
std::string to_markdown(const Table& table) {
  std::vector<std::string> headings, alignments;
  for (const auto& column : table.columns) {
    const std::string between = column.section.empty() ? "" : " ";
    headings.push_back(markdown_text(column.section + between + column.heading));
    alignments.push_back(column.left_aligned ? ":--" : "--:");
  }
  std::string text = markdown_line(headings) + markdown_line(alignments);
  for (const auto& row : table.rows) {
    std::vector<std::string> cells;
    for (const auto& cell : row.cells) {
      cells.push_back(markdown_text(cell.text + cell.mark));
      cells.resize(cells.size() + cell.span - 1);
    }
    text += markdown_line(cells);
  }
  text += "\n";
  for (const auto& note : table.notes) text += "- " + markdown_text(note) + "\n";
  return text;
}

}  // namespace transformer
