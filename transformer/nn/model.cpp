#include "transformer/nn/model.h"

#include <ATen/record_function.h>

#include <algorithm>
#include <cmath>

#include "transformer/nn/dropout.h"
#include "transformer/nn/kernels/embedding_kernel.h"
#include "transformer/nn/made_where.h"
#include "transformer/nn/shapes.h"

namespace transformer {

TransformerImpl::TransformerImpl(const ModelConfig& config)
    : config_(config),
      source_embedding_(made_where<torch::nn::Embedding>(
          reads_source(config.family),
          [&] {
            return register_module(config.tie_embeddings ? "embedding" : "source_embedding",
                                   torch::nn::Embedding(config.source_V, config.d_model));
          })),
      target_embedding_(
          config.tie_embeddings && source_embedding_
              ? *source_embedding_
              : register_module(config.tie_embeddings ? "embedding" : "target_embedding",
                                torch::nn::Embedding(config.V, config.d_model))),
      source_positions_(made_where<Positions>(
          reads_source(config.family),
          [&] { return register_module("source_positions", Positions(config)); })),
      target_positions_(register_module("target_positions", Positions(config))),
      encoder_(made_where<Encoder>(has_encoder(config.family),
                                   [&] { return register_module("encoder", Encoder(config)); })),
      decoder_(made_where<Decoder>(has_decoder(config.family),
                                   [&] { return register_module("decoder", Decoder(config)); })) {
  TORCH_CHECK(config.V.stated() && config.source_V.stated() && config.d_k.stated() &&
                  config.d_v.stated() && config.kv_heads.stated(),
              "model: expected a resolved config with V");
  if (!config.tie_embeddings) {
    output_ = register_module(
        "output",
        torch::nn::Linear(torch::nn::LinearOptions(config.d_model, config.V).bias(false)));
  }
}

torch::Tensor TransformerImpl::embed(torch::nn::Embedding& embedding, Positions& positions,
                                     const torch::Tensor& ids, int64_t first) {
  RECORD_USER_SCOPE("embedding");
  const double scale = std::sqrt(static_cast<double>(config_.d_model));  // section 3.4
  return drop(positions(embedding(ids) * scale, first), config_.P_drop, is_training());
}

torch::Tensor TransformerImpl::embed_packed(torch::nn::Embedding& embedding, Positions& positions,
                                            const Packed& sentences) {
  RECORD_USER_SCOPE("embedding");
  int64_t longest = 0;
  for (size_t i = 1; i < sentences.starts->size(); ++i) {
    longest = std::max(longest, (*sentences.starts)[i] - (*sentences.starts)[i - 1]);
  }
  return embedded(embedding->weight, sentences.ids, std::sqrt(static_cast<double>(config_.d_model)),
                  positions->table(longest, embedding->weight.options()), sentences.positions,
                  is_training() ? config_.P_drop : 0.0,
                  config_.tie_embeddings ? EmbeddingGradient::sparse : EmbeddingGradient::dense);
}

torch::Tensor TransformerImpl::embed_target(const torch::Tensor& ids, int64_t first) {
  return embed(target_embedding_, target_positions_, ids, first);
}

torch::Tensor TransformerImpl::forward(const torch::Tensor& source, const torch::Tensor& target) {
  return pass(source, target).hidden.matmul(output_weight().t());
}

TransformerImpl::Pass TransformerImpl::pass(const torch::Tensor& source,
                                            const torch::Tensor& target) {
  expect_shape(target, {kAny, kAny}, "target");
  switch (config_.family) {
    case Family::encoder_decoder: {
      const auto mask = padding_mask(source);
      const auto memory = encode(source, mask);
      return {mask, memory, decode(target, memory, mask)};
    }
    case Family::decoder_only:
      return {std::nullopt, std::nullopt, (*decoder_)(embed_target(target), std::nullopt, Mask{})};
    case Family::encoder_only: {
      const auto mask = padding_mask(target);
      return {mask, std::nullopt, (*encoder_)(embed_target(target), Mask{mask})};
    }
  }
  TORCH_INTERNAL_ASSERT(false, "family without a case");
}

torch::Tensor TransformerImpl::hidden_packed(const Packed& source, const Packed& target) {
  const auto embedded = [&] { return embed_packed(target_embedding_, target_positions_, target); };
  const Mask self{.query_starts = target.starts, .key_starts = target.starts};
  switch (config_.family) {
    case Family::encoder_decoder: {
      const Mask of_source{.query_starts = source.starts, .key_starts = source.starts};
      const Mask cross{.query_starts = target.starts, .key_starts = source.starts};
      const auto memory =
          (*encoder_)(embed_packed(*source_embedding_, *source_positions_, source), of_source);
      return (*decoder_)(embedded(), memory, cross);
    }
    case Family::decoder_only:
      return (*decoder_)(embedded(), std::nullopt, self);
    case Family::encoder_only:
      return (*encoder_)(embedded(), self);
  }
  TORCH_INTERNAL_ASSERT(false, "family without a case");
}

void TransformerImpl::expect_source() const {
  TORCH_CHECK(reads_source(config_.family), "model: a ", name_of(config_.family),
              " model reads no source");
}

torch::Tensor TransformerImpl::encode(const torch::Tensor& source,
                                      const torch::Tensor& source_mask) {
  expect_source();
  expect_shape(source, {kAny, kAny}, "source");
  expect_shape(source_mask, {source.size(0), 1, 1, source.size(1)}, "source mask");
  return (*encoder_)(embed(*source_embedding_, *source_positions_, source), Mask{source_mask});
}

torch::Tensor TransformerImpl::decode(const torch::Tensor& target, const torch::Tensor& memory,
                                      const torch::Tensor& source_mask) {
  expect_source();
  expect_shape(target, {kAny, kAny}, "target");
  expect_shape(memory, {target.size(0), kAny, config_.d_model}, "memory");
  expect_shape(source_mask, {memory.size(0), 1, 1, memory.size(1)}, "source mask");
  return (*decoder_)(embed_target(target), memory, Mask{source_mask});
}

torch::Tensor TransformerImpl::output_weight() const {
  return output_ ? (*output_)->weight : target_embedding_->weight;
}

const PanelMatrix* TransformerImpl::panel_output() {
  return is_training() ? nullptr : panel_output_.of(output_weight());
}

void TransformerImpl::train(bool on) {
  Module::train(on);
  if (on) panel_output_.drop();
}

DecoderCache TransformerImpl::start(const torch::Tensor& memory, const torch::Tensor& source_mask) {
  expect_shape(memory, {kAny, kAny, config_.d_model}, "memory");
  expect_shape(source_mask, {memory.size(0), 1, 1, memory.size(1)}, "source mask");
  expect_source();
  return (*decoder_)->start(memory, source_mask);
}

DecoderCache TransformerImpl::start(int64_t rows) {
  TORCH_CHECK(decoder_ && !encoder_, "model: a ", name_of(config_.family),
              " model does not write without a source");
  return {config_, rows, output_weight().options()};
}

torch::Tensor TransformerImpl::step(const torch::Tensor& tokens, DecoderCache& cache) {
  TORCH_CHECK(decoder_, "model: a ", name_of(config_.family), " model does not write");
  expect_shape(tokens, {cache.rows}, "tokens of a step");
  return (*decoder_)->step(embed_target(tokens.unsqueeze(1), cache.length), cache).squeeze(1);
}

}  // namespace transformer
