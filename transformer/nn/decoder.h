#pragma once

#include <torch/nn/modules/container/modulelist.h>

#include <optional>

#include "transformer/nn/attention.h"
#include "transformer/nn/decoder_cache.h"
#include "transformer/nn/feed_forward.h"
#include "transformer/nn/residual.h"

namespace transformer {

// Figure 1, right; without the sublayer in its middle where there is no encoder.
class DecoderLayerImpl : public torch::nn::Module {
 public:
  explicit DecoderLayerImpl(const ModelConfig& config);
  // x: [batch, target_time, d_model], memory: [batch, source_time, d_model], there if and only if
  // the model reads a source. Returns the shape of x.
  torch::Tensor forward(const torch::Tensor& x, const std::optional<torch::Tensor>& memory,
                        const Mask& source_mask);

  // What every step reads of the memory.
  KeysValues start(const torch::Tensor& memory);
  // The newest position of every row: [rows, 1, d_model]. Returns the same shape.
  torch::Tensor step(const torch::Tensor& x, DecoderCache& cache, DecoderCache::Layer& layer);

 private:
  MultiHeadAttention self_attention_;
  Residual self_attention_residual_;
  std::optional<MultiHeadAttention> cross_attention_;
  std::optional<Residual> cross_attention_residual_;
  FeedForward feed_forward_;
  Residual feed_forward_residual_;
};
TORCH_MODULE(DecoderLayer);

// N layers, and a final normalization with pre.
class DecoderImpl : public torch::nn::Module {
 public:
  explicit DecoderImpl(const ModelConfig& config);
  // x: embeddings with positions. Position i of the result depends on positions 0..i of x alone, so
  // padding at the right needs no mask. `memory` as a layer has it. Returns the shape of x.
  torch::Tensor forward(torch::Tensor x, const std::optional<torch::Tensor>& memory,
                        const Mask& source_mask);

  DecoderCache start(const torch::Tensor& memory, const torch::Tensor& source_mask);
  torch::Tensor step(torch::Tensor x, DecoderCache& cache);

 private:
  torch::nn::ModuleList layers_;
  std::optional<Normalization> norm_;
};
TORCH_MODULE(Decoder);

}  // namespace transformer
