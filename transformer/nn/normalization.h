#pragma once

#include <torch/nn/module.h>
#include <torch/nn/pimpl.h>

#include <optional>

#include "transformer/config.h"

namespace transformer {

// Normalization over d_model, with a gain and maybe a bias: gain · (x - mean) / sqrt(variance +
// norm_epsilon) + bias where the config says layer.
class NormalizationImpl : public torch::nn::Module {
 public:
  explicit NormalizationImpl(const ModelConfig& config);
  // x: [..., d_model]. Returns the same shape.
  torch::Tensor forward(const torch::Tensor& x);
  // Of x + drop(y), both of one shape; without dropout unless training.
  torch::Tensor of_sum(const torch::Tensor& x, const torch::Tensor& y, double p, bool training);

 private:
  NormKind kind_;
  double epsilon_;
  torch::Tensor weight_;               // [d_model], the gain
  std::optional<torch::Tensor> bias_;  // [d_model]
};
TORCH_MODULE(Normalization);

}  // namespace transformer
