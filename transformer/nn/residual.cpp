#include "transformer/nn/residual.h"

#include <ATen/record_function.h>

#include "transformer/nn/dropout.h"

namespace transformer {

ResidualImpl::ResidualImpl(const ModelConfig& config)
    : placement_(config.norm_placement),
      P_drop_(config.P_drop),
      norm_(register_module("norm", Normalization(config))) {}

torch::Tensor ResidualImpl::forward(const torch::Tensor& x, const Sublayer& sublayer) {
  RECORD_USER_SCOPE("residual");
  if (!observer_) return connect(x, sublayer);
  ResidualPass pass;
  pass.trunk = x;
  pass.output = connect(x, [&](const torch::Tensor& y) {
    pass.input = y;
    pass.branch = sublayer(y);
    return pass.branch;
  });
  observer_(pass);
  return pass.output;
}

torch::Tensor ResidualImpl::connect(const torch::Tensor& x, const Sublayer& sublayer) {
  switch (placement_) {
    case NormPlacement::post:
      return norm_->of_sum(x, sublayer(x), P_drop_, is_training());
    case NormPlacement::pre:
      return add_dropped(x, sublayer(norm_(x)), P_drop_, is_training());
  }
  TORCH_INTERNAL_ASSERT(false, "norm placement without a case");
}

bool ends_in_norm(NormPlacement placement) {
  switch (placement) {
    case NormPlacement::post:
      return false;
    case NormPlacement::pre:
      return true;
  }
  TORCH_INTERNAL_ASSERT(false, "norm placement without a case");
}

}  // namespace transformer
