#include "transformer/analysis/training_cost.h"

#include <cmath>
#include <string>

#include "tests/catch.h"

using namespace transformer;

namespace {

double two_digits(double value) {
  const double unit = std::pow(10.0, std::floor(std::log10(value)) - 1);
  return std::round(value / unit) * unit;
}

}  // namespace

TEST_CASE("training cost: the paper's times give the paper's costs") {
  const auto cost = [](double hours) { return two_digits(cost_by_time(3600 * hours, 8, 9.5e12)); };
  REQUIRE(cost(12) == Approx(3.3e18));
  REQUIRE(cost(84) == Approx(2.3e19));
  const size_t last = kPaperCosts.size() - 1;
  REQUIRE(std::string(kPaperCosts[last].model) == "Transformer (big)");
  REQUIRE(cost(kPaperTrainings[0].hours) == Approx(*kPaperCosts[last - 1].german));
  REQUIRE(cost(kPaperTrainings[1].hours) == Approx(*kPaperCosts[last].german));
}

TEST_CASE("training cost: time is what it takes at the rate that is used") {
  REQUIRE(training_seconds(6e15, 3, 1e12, 0.5) == 4000);
  REQUIRE(cost_by_time(training_seconds(7e18, 8, 9.5e12, 0.25), 8, 9.5e12) == Approx(4 * 7e18));
}
