#pragma once

#include <string>
#include <vector>

#include "transformer/nn/model.h"

namespace transformer {

// The weights softmax(Q K^T / sqrt(d_k)) of equation 1 that a model gives a batch, per attention
// and head: the figures at the end of the paper.
struct AttentionWeights {
  std::string attention;  // its registered name: decoder.layers.0.cross_attention
  torch::Tensor weights;  // [batch, h, q_time, k_time]; each row sums to 1
};

// source: [batch, source_time], target (the decoder's input): [batch, target_time] int64, padded
// at the right with 0. In the order of the computation. Throws where the weights would not give
// what the attention returned when the model was run.
std::vector<AttentionWeights> attention_weights(Transformer& model, const torch::Tensor& source,
                                                const torch::Tensor& target);

}  // namespace transformer
