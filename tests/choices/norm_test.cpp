#include "transformer/choices/norm.h"

#include <torch/torch.h>

#include <cmath>
#include <numeric>

#include "tests/catch.h"
#include "tests/nn/configs.h"
#include "tests/nn/gradients.h"
#include "transformer/nn/normalization.h"

using namespace transformer;

namespace {

constexpr auto kNorms = {NormKind::layer, NormKind::rms};

// One row, before gain and bias, number by number.
std::vector<double> norm_by_hand(NormKind kind, const std::vector<double>& x, double epsilon) {
  const auto n = static_cast<double>(x.size());
  double mean = 0;
  if (kind != NormKind::rms) mean = std::accumulate(x.begin(), x.end(), 0.0) / n;
  double squares = 0;
  for (const double entry : x) squares += (entry - mean) * (entry - mean);
  std::vector<double> y;
  for (const double entry : x) y.push_back((entry - mean) / std::sqrt(squares / n + epsilon));
  return y;
}

}  // namespace

TEST_CASE("norm: each is its formula with the gain, and the bias where it has one", "[numeric]") {
  torch::manual_seed(1);
  auto config = small_model();
  config.norm_epsilon = 0.25;  // large enough to be seen
  for (const auto kind : kNorms) {
    config.norm = kind;
    Normalization norm(config);
    norm->to(torch::kDouble);
    const auto parameters = norm->named_parameters();
    REQUIRE(parameters.contains("bias") == (kind != NormKind::rms));
    for (auto& parameter : norm->parameters()) torch::nn::init::normal_(parameter);
    auto x = torch::randn({5, 12}, torch::kDouble) + 1;
    const auto got = norm(x);
    const auto of_sum = norm->of_sum(0.25 * x, 0.75 * x, 0.5, /*training=*/false);
    for (int64_t row = 0; row < 5; ++row) {
      const auto* entries = x.const_data_ptr<double>() + 12 * row;
      const auto want = norm_by_hand(kind, {entries, entries + 12}, 0.25);
      for (int64_t i = 0; i < 12; ++i) {
        double y = want[static_cast<size_t>(i)] * parameters["weight"][i].item<double>();
        if (kind != NormKind::rms) y += parameters["bias"][i].item<double>();
        REQUIRE(got[row][i].item<double>() == Approx(y));
        REQUIRE(of_sum[row][i].item<double>() == Approx(y));
      }
    }
    require_gradient([&] { return norm(x).pow(3).sum(); }, x.requires_grad_());
    require_gradient([&] { return norm(x).pow(3).sum(); }, norm->parameters()[0]);
  }
}

TEST_CASE("norm: in float32 the same, of a sum too", "[numeric]") {
  torch::manual_seed(2);
  auto config = small_model();
  for (const auto kind : kNorms) {
    config.norm = kind;
    Normalization norm(config);
    Normalization exact(config);
    exact->to(torch::kDouble);
    const auto x = torch::randn({3, 4, 12});
    const auto y = torch::randn({3, 4, 12});
    const auto want = exact((x + y).to(torch::kDouble));
    REQUIRE(torch::allclose(norm(x + y).to(torch::kDouble), want, 1e-5, 1e-6));
    REQUIRE(torch::allclose(norm->of_sum(x, y, 0, true).to(torch::kDouble), want, 1e-5, 1e-6));
  }
}
