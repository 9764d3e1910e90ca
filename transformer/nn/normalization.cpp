#include "transformer/nn/normalization.h"

#include <torch/types.h>

namespace transformer {

NormalizationImpl::NormalizationImpl(const ModelConfig& config)
    : kind_(config.norm),
      epsilon_(config.norm_epsilon),
      weight_(register_parameter("weight", torch::ones({config.d_model}))),
      bias_(register_parameter("bias", torch::zeros({config.d_model}))) {}

torch::Tensor NormalizationImpl::forward(const torch::Tensor& x) {
  switch (kind_) {
    case NormKind::layer:
      return at::layer_norm(x, weight_.sizes(), weight_, bias_, epsilon_);
  }
  TORCH_INTERNAL_ASSERT(false, "norm without a case");
}

}  // namespace transformer
