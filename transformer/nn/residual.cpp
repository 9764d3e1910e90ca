#include "transformer/nn/residual.h"

#include <torch/types.h>

#include "transformer/nn/dropout.h"
#include "transformer/nn/shapes.h"

namespace transformer {

ResidualImpl::ResidualImpl(const ModelConfig& config)
    : placement_(config.norm_placement),
      P_drop_(config.P_drop),
      norm_(register_module("norm", Normalization(config))) {}

torch::Tensor ResidualImpl::forward(const torch::Tensor& x, const Sublayer& sublayer) {
  expect_shape(x, {kAny, kAny, kAny}, "residual");
  const auto dropped = [this](const torch::Tensor& y) { return drop(y, P_drop_, is_training()); };
  switch (placement_) {
    case NormPlacement::post:
      return norm_(x + dropped(sublayer(x)));
    case NormPlacement::pre:
      return x + dropped(sublayer(norm_(x)));
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
