#pragma once

#include <torch/nn/modules/linear.h>

#include "transformer/nn/kernels/panel_matrix.h"

namespace transformer {

// A linear layer that in inference mode, on a CPU, multiplies by its weight in panels. That is kept
// for as long as the module is in evaluation mode.
class ProjectionImpl : public torch::nn::LinearImpl {
 public:
  ProjectionImpl(int64_t from, int64_t to, bool with_bias = true);
  // x: [..., from]. Returns [..., to].
  torch::Tensor forward(const torch::Tensor& x);
  void train(bool on = true) override;

 private:
  PanelWeight panels_;
};
TORCH_MODULE(Projection);

}  // namespace transformer
