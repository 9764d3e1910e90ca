#include "transformer/nn/decoder.h"

#include "transformer/nn/made_where.h"
#include "transformer/nn/shapes.h"

namespace transformer {

DecoderLayerImpl::DecoderLayerImpl(const ModelConfig& config)
    : self_attention_(register_module("self_attention", MultiHeadAttention(config))),
      self_attention_residual_(
          register_module("self_attention_residual", Residual(config, Stack::decoder))),
      cross_attention_(made_where<MultiHeadAttention>(
          reads_source(config.family),
          [&] {
            return register_module("cross_attention",
                                   MultiHeadAttention(config, AttentionKind::cross));
          })),
      cross_attention_residual_(made_where<Residual>(
          reads_source(config.family),
          [&] {
            return register_module("cross_attention_residual", Residual(config, Stack::decoder));
          })),
      feed_forward_(register_module("feed_forward", FeedForward(config))),
      feed_forward_residual_(
          register_module("feed_forward_residual", Residual(config, Stack::decoder))) {}

torch::Tensor DecoderLayerImpl::forward(const torch::Tensor& x,
                                        const std::optional<torch::Tensor>& memory,
                                        const Mask& source_mask) {
  TORCH_CHECK(memory.has_value() == cross_attention_.has_value(),
              "decoder: expected a memory if and only if the model reads a source");
  const auto written = self_attention_residual_->forward(
      x, [&](const auto& y) { return self_attention_(y, y, source_mask.causal_of_queries()); });
  const auto read =
      !memory ? written : (*cross_attention_residual_)->forward(written, [&](const auto& y) {
        return (*cross_attention_)(y, *memory, source_mask);
      });
  return feed_forward_residual_->forward(
      read, [&](const auto& y) { return feed_forward_(y); }, x);
}

KeysValues DecoderLayerImpl::start(const torch::Tensor& memory) {
  return (*cross_attention_)->keys_values(memory);
}

torch::Tensor DecoderLayerImpl::step(const torch::Tensor& x, DecoderCache& cache,
                                     DecoderCache::Layer& layer) {
  const auto written = self_attention_residual_->forward(x, [&](const auto& y) {
    cache.write(layer, self_attention_->keys_values(y, cache.length));
    const auto heads =
        cache.attend_written(layer, self_attention_->queries(y, cache.length),
                             self_attention_->score_bias(1, cache.length + 1, y.options()));
    return self_attention_->merge_heads(heads);
  });
  const auto look = [&](const auto& y) {
    auto& cross_attention = *cross_attention_;
    return cross_attention->merge_heads(cache.attend_memory(layer, cross_attention->queries(y)));
  };
  const auto read =
      cross_attention_ ? (*cross_attention_residual_)->forward(written, look) : written;
  return feed_forward_residual_->forward(
      read, [&](const auto& y) { return feed_forward_(y); }, x);
}

DecoderImpl::DecoderImpl(const ModelConfig& config)
    : layers_(register_module("layers", torch::nn::ModuleList())) {
  for (int64_t i = 0; i < config.N; ++i) layers_->push_back(DecoderLayer(config));
  if (ends_in_norm(config.norm_placement)) norm_ = register_module("norm", Normalization(config));
}

torch::Tensor DecoderImpl::forward(torch::Tensor x, const std::optional<torch::Tensor>& memory,
                                   const Mask& source_mask) {
  for (const auto& layer : *layers_) {
    x = layer->as<DecoderLayer>()->forward(x, memory, source_mask);
  }
  return norm_ ? (*norm_)(x) : x;
}

DecoderCache DecoderImpl::start(const torch::Tensor& memory, const torch::Tensor& source_mask) {
  std::vector<KeysValues> cross;
  for (const auto& layer : *layers_) cross.push_back(layer->as<DecoderLayer>()->start(memory));
  return {std::move(cross), source_mask};
}

torch::Tensor DecoderImpl::step(torch::Tensor x, DecoderCache& cache) {
  expect_shape(x, {cache.rows, 1, kAny}, "decoder step");
  cache.open_position();
  for (size_t i = 0; i < cache.layers.size(); ++i) {
    x = layers_->at<DecoderLayerImpl>(i).step(x, cache, cache.layers[i]);
  }
  ++cache.length;
  return norm_ ? (*norm_)(x) : x;
}

}  // namespace transformer
