#pragma once

#include <torch/nn/module.h>
#include <torch/nn/pimpl.h>
#include <torch/types.h>

#include <functional>
#include <utility>

#include "transformer/nn/normalization.h"

namespace transformer {

using Sublayer = std::function<torch::Tensor(const torch::Tensor&)>;

// What passed through a residual connection, for who looks on (analysis/residual_observation.h).
struct ResidualPass {
  torch::Tensor trunk;   // x
  torch::Tensor input;   // what the sublayer was given: x, or LN(x)
  torch::Tensor branch;  // what it returned, before dropout
  torch::Tensor output;
};
using ResidualObserver = std::function<void(const ResidualPass&)>;

// The residual connection around a sublayer (section 3.1), with its normalization and dropout
// (section 5.4). The one place that knows Post-LN from Pre-LN:
//   post: LN(x + drop(f(x)))
//   pre:  x + drop(f(LN(x)))
class ResidualImpl : public torch::nn::Module {
 public:
  explicit ResidualImpl(const ModelConfig& config);
  // x: [..., d_model]; the sublayer keeps that shape. Returns the same.
  torch::Tensor forward(const torch::Tensor& x, const Sublayer& sublayer);

  // Hears of every pass; an empty one of none. Changes no result.
  void observe(ResidualObserver observer) { observer_ = std::move(observer); }

 private:
  torch::Tensor connect(const torch::Tensor& x, const Sublayer& sublayer);

  NormPlacement placement_;
  double P_drop_;
  Normalization norm_;
  ResidualObserver observer_;
};
TORCH_MODULE(Residual);

// Whether a stack ends in a normalization of its own: with pre, no layer has normalized what it
// returns.
bool ends_in_norm(NormPlacement placement);

}  // namespace transformer
