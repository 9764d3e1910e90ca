#pragma once

#include <torch/nn/module.h>
#include <torch/nn/pimpl.h>

#include "transformer/config.h"

namespace transformer {

// Layer normalization (Ba et al. 2016) over d_model: gain · (x - mean) / sqrt(variance +
// norm_epsilon) + bias.
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
  torch::Tensor weight_;  // [d_model], the gain
  torch::Tensor bias_;    // [d_model]
};
TORCH_MODULE(Normalization);

}  // namespace transformer
