#pragma once

#include <optional>

#include "transformer/config.h"
#include "transformer/nn/projection.h"

namespace transformer {

// Equation 2: max(0, x W1 + b1) W2 + b2, the same at every position; or what
// choices/feed_forward.h has in its place.
class FeedForwardImpl : public torch::nn::Module {
 public:
  explicit FeedForwardImpl(const ModelConfig& config);
  // x: [..., d_model]. Returns the same shape.
  torch::Tensor forward(const torch::Tensor& x);

 private:
  FeedForwardKind kind_;
  double activation_drop_;
  Projection in_;                   // d_model -> inner width
  Projection out_;                  // inner width -> d_model
  std::optional<Projection> gate_;  // d_model -> inner width, of a gated kind
};
TORCH_MODULE(FeedForward);

}  // namespace transformer
