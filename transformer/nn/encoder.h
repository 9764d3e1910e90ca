#pragma once

#include <torch/nn/modules/container/modulelist.h>

#include <optional>
#include <vector>

#include "transformer/nn/attention.h"
#include "transformer/nn/feed_forward.h"
#include "transformer/nn/residual.h"

namespace transformer {

// Figure 1, left.
class EncoderLayerImpl : public torch::nn::Module {
 public:
  explicit EncoderLayerImpl(const ModelConfig& config);
  // x: [batch, source_time, d_model]. Returns the same shape.
  torch::Tensor forward(const torch::Tensor& x, const Mask& mask);

 private:
  MultiHeadAttention self_attention_;
  Residual self_attention_residual_;
  FeedForward feed_forward_;
  Residual feed_forward_residual_;
};
TORCH_MODULE(EncoderLayer);

// N layers, and a final normalization with pre.
class EncoderImpl : public torch::nn::Module {
 public:
  explicit EncoderImpl(const ModelConfig& config);
  // x: embeddings with positions, [batch, source_time, d_model]. Returns the memory, the same
  // shape.
  torch::Tensor forward(torch::Tensor x, const Mask& mask);

 private:
  torch::nn::ModuleList layers_;
  std::optional<Normalization> norm_;
};
TORCH_MODULE(Encoder);

}  // namespace transformer
