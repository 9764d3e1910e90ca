#include "transformer/nn/normalization.h"

#include <torch/types.h>

#include "transformer/nn/dropout.h"
#include "transformer/nn/kernels/dropout_kernels.h"
#include "transformer/nn/kernels/kernels.h"

namespace transformer {

NormalizationImpl::NormalizationImpl(const ModelConfig& config)
    : kind_(config.norm),
      epsilon_(config.norm_epsilon),
      weight_(register_parameter("weight", torch::ones({config.d_model}))) {
  if (has_bias(kind_)) bias_ = register_parameter("bias", torch::zeros({config.d_model}));
}

torch::Tensor NormalizationImpl::forward(const torch::Tensor& x) {
  // In one, where there is such a thing.
  if (kind_ == NormKind::layer) {
    return at::layer_norm(x, weight_.sizes(), weight_, bias_, epsilon_);
  }
  if (kind_ == NormKind::rms && has_kernels(x) && has_kernels(weight_)) {
    return rms_normalized_sum(x, std::nullopt, 0.0, weight_, epsilon_);
  }
  const auto y = normalized(kind_, x, epsilon_) * weight_;
  return bias_ ? y + *bias_ : y;
}

torch::Tensor NormalizationImpl::of_sum(const torch::Tensor& x, const torch::Tensor& y, double p,
                                        bool training) {
  const bool fused = has_kernels(x) && has_kernels(y) && has_kernels(weight_);
  if (kind_ == NormKind::layer && fused) {
    return normalized_sum(x, y, training ? p : 0.0, weight_, *bias_, epsilon_);
  }
  if (kind_ == NormKind::rms && fused) {
    return rms_normalized_sum(x, y, training ? p : 0.0, weight_, epsilon_);
  }
  return forward(add_dropped(x, y, p, training));
}

}  // namespace transformer
