#pragma once

#include <optional>

#include "transformer/config.h"
#include "transformer/nn/attention_positions.h"
#include "transformer/nn/masks.h"
#include "transformer/nn/projection.h"

namespace transformer {

struct KeysValues {
  torch::Tensor keys;    // [batch, kv_heads, time, d_k]
  torch::Tensor values;  // [batch, kv_heads, time, d_v]
};

// Of what looks at itself, and of what looks at another sequence.
enum class AttentionKind { self, cross };

// Section 3.2.2: h heads of width d_k and d_v, both free of d_model.
class MultiHeadAttentionImpl : public torch::nn::Module {
 public:
  explicit MultiHeadAttentionImpl(const ModelConfig& config,
                                  AttentionKind kind = AttentionKind::self);

  // query: [batch, q_time, d_model], memory: [batch, k_time, d_model]. Returns [batch, q_time,
  // d_model]. With a packed mask (masks.h) [q_tokens, d_model], [k_tokens, d_model] and the first
  // again; that has no attention dropout.
  torch::Tensor forward(const torch::Tensor& query, const torch::Tensor& memory,
                        const Mask& mask = {});

  // Its parts, so that decoding can keep what memory gives. What is given stands at positions
  // `first` and on.
  torch::Tensor queries(const torch::Tensor& query, int64_t first = 0);  // [batch, h, q_time, d_k]
  KeysValues keys_values(const torch::Tensor& memory, int64_t first = 0);
  // What is added to the scores of the last q_time of k_time positions: [h, q_time, k_time].
  std::optional<torch::Tensor> score_bias(int64_t q_time, int64_t k_time,
                                          const torch::TensorOptions& options) const;
  torch::Tensor merge_heads(const torch::Tensor& heads);  // of [batch, h, q_time, d_v]
  torch::Tensor attend(const torch::Tensor& query, const KeysValues& memory, const Mask& mask = {});

  struct Output {
    torch::Tensor output;   // [batch, q_time, d_model]
    torch::Tensor weights;  // [batch, h, q_time, k_time]
  };
  Output forward_with_weights(const torch::Tensor& query, const torch::Tensor& memory,
                              const Mask& mask = {});

 private:
  torch::Tensor attend_packed(const torch::Tensor& query, const torch::Tensor& memory,
                              const Mask& mask);
  // With what is added to the scores.
  Mask biased(Mask mask, const torch::Tensor& q, const torch::Tensor& k) const;

  int64_t d_model_;
  int64_t h_;
  int64_t kv_heads_;
  int64_t d_k_;
  int64_t d_v_;
  double attention_drop_;
  std::optional<AttentionPositions> positions_;  // of a self-attention
  Projection q_;                                 // d_model -> h * d_k
  Projection k_;                                 // d_model -> kv_heads * d_k
  Projection v_;                                 // d_model -> kv_heads * d_v
  Projection o_;                                 // h * d_v -> d_model
};
TORCH_MODULE(MultiHeadAttention);

}  // namespace transformer
