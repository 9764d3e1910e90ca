#include "transformer/nn/residual.h"

#include <ATen/record_function.h>

#include "transformer/nn/dropout.h"

namespace transformer {

namespace {

// What a residual connection is made of, for `connected`.
struct ResidualParts {
  NormalizationImpl& normalization;
  const Sublayer& sublayer;
  double P_drop;
  bool training;

  torch::Tensor norm(const torch::Tensor& x) const { return normalization.forward(x); }
  torch::Tensor sum(const torch::Tensor& x, const torch::Tensor& y) const {
    return add_dropped(x, y, P_drop, training);
  }
  torch::Tensor norm_of_sum(const torch::Tensor& x, const torch::Tensor& y) const {
    return normalization.of_sum(x, y, P_drop, training);
  }
};

}  // namespace

Depth depth_of(const ModelConfig& config) {
  const auto N = static_cast<double>(config.N);
  return {has_encoder(config.family) ? N : 0, has_decoder(config.family) ? N : 0};
}

ResidualImpl::ResidualImpl(const ModelConfig& config, Stack stack)
    : placement_(config.norm_placement),
      scales_(residual_scales(config.norm_placement, stack, depth_of(config))),
      P_drop_(config.P_drop),
      norm_(register_module("norm", Normalization(config))) {}

torch::Tensor ResidualImpl::forward(const torch::Tensor& x, const Sublayer& sublayer,
                                    const std::optional<torch::Tensor>& bottom) {
  RECORD_USER_SCOPE("residual");
  if (!observer_) return connect(x, sublayer, bottom);
  ResidualPass pass;
  pass.trunk = x;
  const auto observed = [&](const torch::Tensor& y) {
    pass.input = y;
    pass.branch = sublayer(y);
    return pass.branch;
  };
  pass.output = connect(x, observed, bottom);
  observer_(pass);
  return pass.output;
}

torch::Tensor ResidualImpl::connect(const torch::Tensor& x, const Sublayer& sublayer,
                                    const std::optional<torch::Tensor>& bottom) {
  const ResidualParts parts{*norm_, sublayer, P_drop_, is_training()};
  return connected(placement_, x, bottom, scales_, parts);
}

}  // namespace transformer
