#include "experiments/quantities.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "experiments/layout.h"

namespace transformer {

namespace {

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

double least_of(const Quantity& quantity, const Summary& summary) {
  double least = INFINITY;
  for (const auto& row : summary.rows) {
    if (row.*quantity.ours) least = std::min(least, (row.*quantity.ours)->mean / quantity.unit);
  }
  return least;
}

void fit_parameters(Quantity& quantity, const Summary& summary) {
  const double least = least_of(quantity, summary);
  quantity.digits = least >= 20 ? 0 : least >= 10 ? 1 : least >= 1 ? 2 : 3;
  const int most = least < 1 ? 4 : 3;
  while (quantity.digits < most && !tells_apart(quantity, summary)) ++quantity.digits;
}

}  // namespace

std::string Quantity::shown(const std::optional<Figure>& figure) const {
  if (!figure) return "";
  std::string text = fixed(figure->mean / unit, digits);
  const auto& deviation = figure->standard_deviation;
  if (deviation && ours != &RowSummary::parameters)
    text += " ± " + fixed(*deviation / unit, digits);
  return text;
}

std::string Quantity::shown_paper(const std::optional<double>& figure) const {
  return figure ? fixed(*figure / unit, unit != 1 ? 0 : std::min(digits, 2)) : "";
}

std::vector<Quantity> quantities(const Summary& summary) {
  using Row = RowSummary;
  std::vector<Quantity> all = {
      {"PPL", "PPL (dev)", &Row::perplexity, &PaperFigures::perplexity, 1, 2},
      {"BLEU", "BLEU (dev)", &Row::bleu, &PaperFigures::bleu, 1, 1, true},
      {"params", "params ×10^6", &Row::parameters, &PaperFigures::parameters, 1e6, 0},
      {"time", "minutes", &Row::seconds, nullptr, 60, 1},
      {"tokens/s", "tokens/s", &Row::tokens_per_second, nullptr, 1, 0, true},
      {"FLOPs", "FLOPs ×10^12", &Row::flops, nullptr, 1e12, 1},
      {"memory", "MiB", &Row::peak_memory_bytes, nullptr, 1 << 20, 0}};
  if (least_of(all[0], summary) < 2) all[0].digits = 3;
  fit_parameters(all[2], summary);
  return all;
}

}  // namespace transformer
