#include "transformer/analysis/smoothing_floor.h"

#include <torch/types.h>

#include <cmath>

#include "tests/catch.h"
#include "transformer/train/loss.h"

using namespace transformer;

namespace {

double entropy(double target, double other, int64_t V) {
  double sum = -target * std::log(target);
  for (int64_t i = 1; i < V; ++i) sum -= other * std::log(other);
  return sum;
}

}  // namespace

TEST_CASE("smoothing floor: both definitions, summed entry by entry") {
  for (const int64_t V : {2, 9, 37000}) {
    const auto size = static_cast<double>(V);
    REQUIRE(floor_over_others(0.1, V) == Approx(entropy(0.9, 0.1 / (size - 1), V)));
    REQUIRE(loss_floor(0.1, V) == Approx(entropy(0.9 + 0.1 / size, 0.1 / size, V)));
  }
  REQUIRE(floor_over_others(0, 37000) == 0);
  // At 37,000 word-pieces they differ in the fifth digit: both are 1.38 nats.
  REQUIRE(loss_floor(0.1, 37000) == Approx(1.37692).margin(1e-5));
  REQUIRE(floor_over_others(0.1, 37000) == Approx(1.37695).margin(1e-5));
  REQUIRE(std::exp(loss_floor(0.1, 37000)) == Approx(3.9627).margin(1e-3));
}

TEST_CASE(
    "smoothing floor: a model that predicts the smoothed target has this loss, and no other "
    "less",
    "[numeric]") {
  constexpr int64_t kV = 50, kTarget = 7;
  constexpr double kEps = 0.2;
  auto smoothed = torch::full({kV, 1}, kEps / kV, torch::kDouble);
  smoothed[kTarget] += 1 - kEps;
  const auto targets = torch::full({1}, kTarget, torch::kLong);
  const auto loss = [&](const torch::Tensor& logits) {
    return smoothed_loss(torch::ones({1, 1}, torch::kDouble), logits, targets, kEps)
        .smoothed.item<double>();
  };
  REQUIRE(loss(smoothed.log()) == Approx(loss_floor(kEps, kV)));
  torch::manual_seed(4);
  for (int i = 0; i < 5; ++i) {
    REQUIRE(loss(smoothed.log() + 0.1 * torch::randn({kV, 1}, torch::kDouble)) >
            loss_floor(kEps, kV));
  }
}
