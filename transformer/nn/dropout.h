#pragma once

#include <torch/types.h>

namespace transformer {

// Each entry is 0 with probability p and x / (1 - p) otherwise; x itself unless training. Random
// bits come from the device's default generator; what they are depends on the device and the type
// alone.
torch::Tensor drop(const torch::Tensor& x, double p, bool training);

// x + drop(y): every residual connection.
torch::Tensor add_dropped(const torch::Tensor& x, const torch::Tensor& y, double p, bool training);

}  // namespace transformer
