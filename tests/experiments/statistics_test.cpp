#include "experiments/statistics.h"

#include <cmath>

#include "tests/catch.h"

using namespace transformer;

TEST_CASE("statistics: mean and sample standard deviation by hand") {
  REQUIRE(mean({2, 4, 4, 4, 5, 5, 7, 9}) == Approx(5));
  // The squares of the differences add to 32; over 7, not 8.
  REQUIRE(sample_standard_deviation({2, 4, 4, 4, 5, 5, 7, 9}) == Approx(std::sqrt(32.0 / 7)));
  REQUIRE(sample_standard_deviation({1, 3}) == Approx(std::sqrt(2.0)));
  REQUIRE(sample_standard_deviation({1e9 + 1, 1e9 + 3}) == Approx(std::sqrt(2.0)));
}

TEST_CASE("statistics: equal values share the mean of their ranks") {
  REQUIRE(average_ranks({30, 10, 20}) == std::vector<double>{3, 1, 2});
  REQUIRE(average_ranks({5, 1, 5, 5, 9}) == std::vector<double>{3, 1, 3, 3, 5});
}

TEST_CASE("statistics: Spearman without ties is 1 - 6 sum d^2 / (n (n^2 - 1))") {
  // Ranks 1..5 against 2 1 4 3 5: d^2 adds to 4, so 1 - 24 / 120.
  REQUIRE(*spearman({1, 2, 3, 4, 5}, {20, 10, 40, 30, 50}) == Approx(0.8));
  REQUIRE(*spearman({1, 2, 3}, {1, 10, 100}) == Approx(1));
  REQUIRE(*spearman({1, 2, 3}, {3, 2, 1}) == Approx(-1));
}

TEST_CASE("statistics: Spearman with ties is Pearson's correlation of the average ranks") {
  // Ranks 1 2.5 2.5 4 and 1 3 2 4: products 2.25 + 0 + 0 + 2.25 = 4.5 about 2.5, squares 4.5 and 5.
  REQUIRE(*spearman({1, 2, 2, 3}, {1, 3, 2, 4}) == Approx(4.5 / std::sqrt(4.5 * 5)));
}

TEST_CASE("statistics: Spearman needs two pairs and values that differ") {
  REQUIRE_FALSE(spearman({}, {}).has_value());
  REQUIRE_FALSE(spearman({1}, {1}).has_value());
  REQUIRE_FALSE(spearman({1, 1, 1}, {1, 2, 3}).has_value());
}
