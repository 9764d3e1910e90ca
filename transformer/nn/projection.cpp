#include "transformer/nn/projection.h"

namespace transformer {

ProjectionImpl::ProjectionImpl(int64_t from, int64_t to, bool with_bias)
    : LinearImpl(torch::nn::LinearOptions(from, to).bias(with_bias)) {}

torch::Tensor ProjectionImpl::forward(const torch::Tensor& x) {
  if (!is_training()) {
    const auto given = bias.defined() ? std::optional(bias) : std::nullopt;
    if (const auto* panels = panels_.of(weight, given)) return panels->multiply(x);
  }
  return LinearImpl::forward(x);
}

void ProjectionImpl::train(bool on) {
  LinearImpl::train(on);
  if (on) panels_.drop();
}

}  // namespace transformer
