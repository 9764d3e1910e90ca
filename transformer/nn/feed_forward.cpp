#include "transformer/nn/feed_forward.h"

#include <ATen/record_function.h>

#include "transformer/nn/dropout.h"
#include "transformer/nn/kernels/kernels.h"
#include "transformer/nn/kernels/relu_feed_forward.h"

namespace transformer {

FeedForwardImpl::FeedForwardImpl(const ModelConfig& config)
    : kind_(config.feed_forward),
      activation_drop_(config.activation_drop),
      in_(register_module("in", Projection(config.d_model, config.inner_width()))),
      out_(register_module("out", Projection(config.inner_width(), config.d_model))) {
  if (is_gated(kind_)) {
    gate_ = register_module("gate", Projection(config.d_model, config.inner_width()));
  }
}

torch::Tensor FeedForwardImpl::forward(const torch::Tensor& x) {
  RECORD_USER_SCOPE("feed-forward");
  const bool drops_inside = is_training() && activation_drop_ > 0;
  if (kind_ == FeedForwardKind::relu && !drops_inside && has_kernels(x) &&
      has_kernels(in_->weight)) {
    return relu_feed_forward(x, in_->weight, in_->bias, out_->weight, out_->bias);
  }
  const auto inner = gate_ ? in_(x) * activated(kind_, (*gate_)(x)) : activated(kind_, in_(x));
  return out_(drop(inner, activation_drop_, is_training()));
}

}  // namespace transformer
