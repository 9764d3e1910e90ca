#pragma once

#include <torch/types.h>

namespace transformer {

// Each entry is 0 with probability p and x / (1 - p) otherwise; x itself unless training. Every
// dropout of the model goes through here; its random bits come from the device's default generator.
torch::Tensor drop(const torch::Tensor& x, double p, bool training);

}  // namespace transformer
