#pragma once

// The measured quantities of a row that tables show: their names, where they are kept and how they
// are written.

#include <string>
#include <vector>

#include "experiments/summary.h"

namespace transformer {

struct Quantity {
  std::string name;     // in options: "PPL"
  std::string heading;  // in tables: "PPL (dev)"
  std::optional<Figure> RowSummary::*ours;
  std::optional<double> PaperFigures::*papers = nullptr;  // null where the paper has none
  double unit = 1;
  int digits = 0;
  bool more_is_better = false;

  std::string shown(const std::optional<Figure>& figure) const;  // mean and standard deviation
  std::string shown_paper(const std::optional<double>& figure) const;
};

// With digits that tell the rows apart: the paper's suit its sizes, small models and easy corpora
// need more.
std::vector<Quantity> quantities(const Summary& summary);

}  // namespace transformer
