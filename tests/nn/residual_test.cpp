#include "transformer/nn/residual.h"

#include <torch/nn/modules/normalization.h>

#include "tests/catch.h"
#include "tests/nn/configs.h"
#include "tests/nn/gradients.h"

using namespace transformer;

TEST_CASE("residual: dropout falls on the sublayer's output alone, and only in training",
          "[numeric]") {
  torch::manual_seed(2);
  auto config = small_model();
  config.P_drop = 0.25;
  config.norm_placement = NormPlacement::pre;
  Residual residual(config, Stack::encoder);
  const auto x = torch::randn({20, 50, 12});
  const auto added = residual(x, [](const auto& y) { return torch::ones_like(y); }) - x;
  const auto kept = added > 0.5;
  REQUIRE(torch::allclose(added.masked_select(kept), torch::full({}, 4.0 / 3.0), 1e-4, 1e-5));
  REQUIRE(torch::allclose(added.masked_select(~kept), torch::zeros({}), 1e-4, 1e-6));
  REQUIRE(kept.to(torch::kDouble).mean().item<double>() == Approx(0.75).margin(0.02));
}

TEST_CASE("normalization: equals torch::nn::LayerNorm and finite differences", "[numeric]") {
  torch::manual_seed(3);
  auto config = small_model();
  config.norm_epsilon = 0.25;  // large enough to be seen
  Normalization norm(config);
  torch::nn::LayerNorm oracle(torch::nn::LayerNormOptions({12}).eps(0.25));
  norm->to(torch::kDouble);
  oracle->to(torch::kDouble);
  {
    const torch::NoGradGuard no_grad;
    for (const auto& item : norm->named_parameters()) {
      item.value().normal_();
      oracle->named_parameters()[item.key()].copy_(item.value());
    }
  }
  auto x = torch::randn({2, 3, 12}, torch::dtype(torch::kDouble).requires_grad(true));
  REQUIRE(torch::allclose(norm(x), oracle(x)));
  require_gradient([&] { return norm(x).pow(3).sum(); }, x);
}
