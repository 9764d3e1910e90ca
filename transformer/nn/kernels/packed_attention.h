#pragma once

#include <torch/types.h>

#include <cstdint>
#include <vector>

namespace transformer {

using Starts = std::vector<int64_t>;  // as in masks.h

struct HeadSizes {
  int64_t h = 0;
  int64_t kv_heads = 0;
  int64_t d_k = 0;
  int64_t d_v = 0;
};

// Equation 1 for sentences without padding, every head at once: a query looks at the keys of its
// own sentence, with `causal` at those not behind it. Softmax in float32. The weights are held for
// 64 queries of one head at a time, and made again in the backward pass: memory grows with the
// length of a sentence, not with its square.
//
// `slopes`, one a head where there are any: the score of query i and key j falls by slope · |i -
// j|.
//
// A row of qkv: the queries head by head, h * d_k; then the keys, kv_heads * d_k; then the values,
// kv_heads * d_v. qkv: [tokens, those]. Returns [tokens, h * d_v]. On the CPU, in float32.
torch::Tensor packed_self_attention(const torch::Tensor& qkv, const Starts& starts,
                                    const HeadSizes& sizes, bool causal,
                                    const std::vector<double>& slopes = {});

// The same with queries [q_tokens, h * d_k] and keys and values [k_tokens, kv_heads * (d_k + d_v)]
// of different sentences: those of query sentence i are those of key sentence i.
torch::Tensor packed_cross_attention(const torch::Tensor& q, const torch::Tensor& kv,
                                     const Starts& q_starts, const Starts& k_starts,
                                     const HeadSizes& sizes);

}  // namespace transformer
