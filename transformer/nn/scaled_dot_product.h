#pragma once

#include <torch/types.h>

#include "transformer/nn/masks.h"

namespace transformer {

// Equation 1: softmax(Q K^T / sqrt(d_k)) V, for every head at once, softmax in float32 at least. A
// query that may look at nothing gives zeros. The mask's bias is added to what the softmax takes.
// q: [batch, h, q_time, d_k], k: [batch, kv_heads, k_time, d_k], v: [batch, kv_heads, k_time, d_v]
// where kv_heads divides h: query heads in order share a key and value head. Returns [batch, h,
// q_time, d_v].
//
// On the CPU the fused kernel is taken where d_k = d_v; elsewhere PyTorch multiplies the matrices
// one by one, as fast at the length of a sentence.
torch::Tensor scaled_dot_product(const torch::Tensor& q, const torch::Tensor& k,
                                 const torch::Tensor& v, const Mask& mask);

struct WeightedValues {
  torch::Tensor values;   // [batch, h, q_time, d_v]
  torch::Tensor weights;  // [batch, h, q_time, k_time], before dropout; each row sums to 1, or to 0
                          // where it may look at nothing
};

// The same by the plain formula, with the weights, and with dropout on them where attention_drop >
// 0.
WeightedValues scaled_dot_product_with_weights(const torch::Tensor& q, const torch::Tensor& k,
                                               const torch::Tensor& v, const Mask& mask,
                                               double attention_drop = 0.0);

}  // namespace transformer
