#include <map>

#include "experiments/table.h"

namespace transformer {

namespace {

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

std::string latex_text(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\') {
      out += "\\textbackslash{}";
    } else if (c == '~' || c == '^') {
      out += std::string("\\") + c + "{}";
    } else if (std::string("#$%&_{}").find(c) != std::string::npos) {
      out += std::string("\\") + c;
    } else if (c == '|' || c == '<' || c == '>') {
      out += std::string("\\ensuremath{") + c + "}";
    } else {
      out += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
    }
  }
  replace_all(out, "×10\\^{}6", "$\\times 10^6$");
  replace_all(out, " ± ", " $\\pm$ ");
  replace_all(out, "±", "$\\pm$");
  return out;
}

// A number's sign is a minus, not a hyphen.
std::string latex_cell(const std::string& text) {
  const bool is_negative =
      text.size() > 1 && text[0] == '-' && text.find_first_of("0123456789") == 1;
  return is_negative ? "$-$" + latex_text(text.substr(1)) : latex_text(text);
}

// The paper's symbols for its own quantities.
std::string heading(const std::string& name) {
  static const std::map<std::string, std::string> symbols = {{"N", "$N$"},
                                                             {"d_model", "$d_{\\mathrm{model}}$"},
                                                             {"d_ff", "$d_{\\mathrm{ff}}$"},
                                                             {"h", "$h$"},
                                                             {"d_k", "$d_k$"},
                                                             {"d_v", "$d_v$"},
                                                             {"P_drop", "$P_{\\mathrm{drop}}$"},
                                                             {"eps_ls", "$\\epsilon_{ls}$"},
                                                             {"train_steps", "train steps"}};
  const auto found = symbols.find(name);
  return found == symbols.end() ? latex_text(name) : found->second;
}

std::string latex_line(const std::vector<std::string>& cells) {
  std::string line;
  for (size_t i = 0; i < cells.size(); ++i) line += (i == 0 ? "" : " & ") + cells[i];
  return line + " \\\\\n";
}

std::string spanning(size_t columns, const std::string& text, char alignment) {
  if (columns == 1) return text;
  return "\\multicolumn{" + std::to_string(columns) + "}{" + alignment + "}{" + text + "}";
}

std::string sections(const Table& table) {
  std::vector<std::string> cells;
  std::string rules;
  for (size_t i = 0, end = 0; i < table.columns.size(); i = end) {
    const auto& section = table.columns[i].section;
    for (end = i + 1; !section.empty() && end < table.columns.size(); ++end) {
      if (table.columns[end].section != section) break;
    }
    cells.push_back(spanning(end - i, latex_text(section), 'c'));
    if (section.empty()) continue;
    rules += "\\cmidrule(lr){" + std::to_string(i + 1) + "-" + std::to_string(end) + "}";
  }
  return rules.empty() ? "" : latex_line(cells) + rules + "\n";
}

}  // namespace

std::string to_latex(const Table& table) {
  std::string alignments;
  std::vector<std::string> headings;
  for (const auto& column : table.columns) {
    alignments += column.left_aligned ? 'l' : 'r';
    headings.push_back(heading(column.heading));
  }
  std::string text =
      "% needs \\usepackage{booktabs}\n\\begin{tabular}{" + alignments + "}\n\\toprule\n";
  text += sections(table) + latex_line(headings) + "\\midrule\n";
  for (size_t i = 0; i < table.rows.size(); ++i) {
    if (i > 0 && table.rows[i].group != table.rows[i - 1].group) text += "\\midrule\n";
    std::vector<std::string> cells;
    for (const auto& cell : table.rows[i].cells) {
      const std::string mark = cell.mark.empty() ? "" : "$^{" + cell.mark + "}$";
      cells.push_back(spanning(cell.span, latex_cell(cell.text) + mark, 'l'));
    }
    text += latex_line(cells);
  }
  text += "\\bottomrule\n\\end{tabular}\n";
  for (const auto& note : table.notes) text += "\n\\noindent " + latex_text(note) + "\n";
  return text;
}

}  // namespace transformer
