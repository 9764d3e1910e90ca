#pragma once

#include <torch/types.h>

namespace transformer {

// Equation 2, max(0, x W1 + b1) W2 + b2, with its backward pass in one: what ReLU stops, and the
// sum for b1, cost one pass over the inner rows. x: [..., d_model]; in_weight: [d_ff, d_model],
// out_weight: [d_model, d_ff], as in torch::nn::Linear. On the CPU, in float32.
torch::Tensor relu_feed_forward(const torch::Tensor& x, const torch::Tensor& in_weight,
                                const torch::Tensor& in_bias, const torch::Tensor& out_weight,
                                const torch::Tensor& out_bias);

}  // namespace transformer
