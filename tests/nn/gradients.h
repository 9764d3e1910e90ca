#pragma once

#include <torch/types.h>

#include <functional>

#include "tests/catch.h"

namespace transformer {

// Finite differences, in double: the gradient of `f` by `x` against (f(x + e) - f(x - e)) / 2e for
// each entry. `f` returns a scalar and x is a leaf that requires a gradient.
inline void require_gradient(const std::function<torch::Tensor()>& f, torch::Tensor x) {
  const auto gradient = torch::autograd::grad({f()}, {x})[0].contiguous().view(-1);
  const torch::NoGradGuard no_grad;
  auto entries = x.view(-1);
  constexpr double kStep = 1e-5;
  for (int64_t i = 0; i < entries.numel(); ++i) {
    const double kept = entries[i].item<double>();
    entries[i] = kept + kStep;
    const double above = f().item<double>();
    entries[i] = kept - kStep;
    const double below = f().item<double>();
    entries[i] = kept;
    REQUIRE(gradient[i].item<double>() ==
            Approx((above - below) / (2 * kStep)).epsilon(1e-5).margin(1e-7));
  }
}

}  // namespace transformer
