#pragma once

#include <optional>
#include <vector>

namespace transformer {

// Of one value or more.
double mean(const std::vector<double>& values);

// The sample's: the sum of squares over n - 1. Of two values or more.
double sample_standard_deviation(const std::vector<double>& values);

// From 1; equal values share the mean of their ranks.
std::vector<double> average_ranks(const std::vector<double>& values);

// Spearman's rank correlation: Pearson's of the average ranks, -1..1. None for fewer than two
// pairs, or where all values of a side are equal.
std::optional<double> spearman(const std::vector<double>& x, const std::vector<double>& y);

}  // namespace transformer
