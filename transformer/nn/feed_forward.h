#pragma once

#include <torch/nn/modules/linear.h>

#include "transformer/config.h"

namespace transformer {

// Equation 2: max(0, x W1 + b1) W2 + b2, the same at every position.
class FeedForwardImpl : public torch::nn::Module {
 public:
  explicit FeedForwardImpl(const ModelConfig& config);
  // x: [..., d_model]. Returns the same shape.
  torch::Tensor forward(const torch::Tensor& x);

 private:
  FeedForwardKind kind_;
  double activation_drop_;
  torch::nn::Linear in_;   // d_model -> d_ff
  torch::nn::Linear out_;  // d_ff -> d_model
};
TORCH_MODULE(FeedForward);

}  // namespace transformer
