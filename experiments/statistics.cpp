#include "experiments/statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace transformer {

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double sample_standard_deviation(const std::vector<double>& values) {
  const double center = mean(values);
  double squares = 0;
  for (const double value : values) squares += (value - center) * (value - center);
  return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

std::vector<double> average_ranks(const std::vector<double>& values) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return values[a] < values[b]; });
  std::vector<double> ranks(values.size());
  for (size_t start = 0, end = 0; start < order.size(); start = end) {
    while (end < order.size() && values[order[end]] == values[order[start]]) ++end;
    const double shared = static_cast<double>(start + 1 + end) / 2;  // mean of start + 1 .. end
    for (size_t i = start; i < end; ++i) ranks[order[i]] = shared;
  }
  return ranks;
}

std::optional<double> spearman(const std::vector<double>& x, const std::vector<double>& y) {
  if (x.size() < 2 || x.size() != y.size()) return std::nullopt;
  const auto a = average_ranks(x);
  const auto b = average_ranks(y);
  const double center = static_cast<double>(x.size() + 1) / 2;
  double products = 0, squares_a = 0, squares_b = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    products += (a[i] - center) * (b[i] - center);
    squares_a += (a[i] - center) * (a[i] - center);
    squares_b += (b[i] - center) * (b[i] - center);
  }
  if (squares_a == 0 || squares_b == 0) return std::nullopt;
  return products / std::sqrt(squares_a * squares_b);
}

}  // namespace transformer
