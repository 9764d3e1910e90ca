#pragma once

#include "transformer/config.h"
#include "transformer/nn/projection.h"

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
  Projection in_;   // d_model -> d_ff
  Projection out_;  // d_ff -> d_model
};
TORCH_MODULE(FeedForward);

}  // namespace transformer
