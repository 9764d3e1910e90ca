#include "transformer/nn/encoder.h"

namespace transformer {

EncoderLayerImpl::EncoderLayerImpl(const ModelConfig& config)
    : self_attention_(register_module("self_attention", MultiHeadAttention(config))),
      self_attention_residual_(
          register_module("self_attention_residual", Residual(config, Stack::encoder))),
      feed_forward_(register_module("feed_forward", FeedForward(config))),
      feed_forward_residual_(
          register_module("feed_forward_residual", Residual(config, Stack::encoder))) {}

torch::Tensor EncoderLayerImpl::forward(const torch::Tensor& x, const Mask& mask) {
  const auto attended = self_attention_residual_->forward(
      x, [&](const auto& y) { return self_attention_(y, y, mask); });
  return feed_forward_residual_->forward(
      attended, [&](const auto& y) { return feed_forward_(y); }, x);
}

EncoderImpl::EncoderImpl(const ModelConfig& config)
    : layers_(register_module("layers", torch::nn::ModuleList())) {
  for (int64_t i = 0; i < config.N; ++i) layers_->push_back(EncoderLayer(config));
  if (ends_in_norm(config.norm_placement)) norm_ = register_module("norm", Normalization(config));
}

torch::Tensor EncoderImpl::forward(torch::Tensor x, const Mask& mask) {
  for (const auto& layer : *layers_) x = layer->as<EncoderLayer>()->forward(x, mask);
  return norm_ ? (*norm_)(x) : x;
}

}  // namespace transformer
