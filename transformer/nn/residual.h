#pragma once

#include <torch/nn/module.h>
#include <torch/nn/pimpl.h>
#include <torch/types.h>

#include <functional>
#include <optional>
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
// (section 5.4). How they are joined is choices/norm_placement.h's to say.
class ResidualImpl : public torch::nn::Module {
 public:
  ResidualImpl(const ModelConfig& config, Stack stack);
  // x: [..., d_model]; the sublayer keeps that shape. `bottom`, of that shape too, is what the
  // layer was given, and stated where this connection is the layer's last. Returns the shape of x.
  torch::Tensor forward(const torch::Tensor& x, const Sublayer& sublayer,
                        const std::optional<torch::Tensor>& bottom = std::nullopt);

  // Hears of every pass; an empty one of none. Changes no result.
  void observe(ResidualObserver observer) { observer_ = std::move(observer); }

 private:
  torch::Tensor connect(const torch::Tensor& x, const Sublayer& sublayer,
                        const std::optional<torch::Tensor>& bottom);

  NormPlacement placement_;
  ResidualScales scales_;
  double P_drop_;
  Normalization norm_;
  ResidualObserver observer_;
};
TORCH_MODULE(Residual);

// Each stack that the family has is N layers deep.
Depth depth_of(const ModelConfig& config);

}  // namespace transformer
