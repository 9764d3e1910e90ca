#pragma once

#include <string>
#include <vector>

#include "transformer/analysis/residual_observation.h"
#include "transformer/nn/model.h"

namespace transformer {

// The weights softmax(Q K^T / sqrt(d_k)) of equation 1 that a model gives a batch, per attention
// and head: the figures at the end of the paper.
struct AttentionWeights {
  std::string attention;  // its registered name: decoder.layers.0.cross_attention
  torch::Tensor weights;  // [batch, h, q_time, k_time]; each row sums to 1
};

// source: [batch, source_time], target (the decoder's input, or that of an encoder alone): [batch,
// target_time] int64, padded at the right with 0. In the order of the computation. Throws where the
// weights would not give what the attention returned when the model was run.
std::vector<AttentionWeights> attention_weights(Transformer& model, const torch::Tensor& source,
                                                const torch::Tensor& target);

// Of one attention, as it was observed in this pass: what it returned and the weights that it was
// run with.
MultiHeadAttentionImpl::Output attention_of(MultiHeadAttentionImpl& attention,
                                            const ResidualObservation::Seen& seen,
                                            const TransformerImpl::Pass& pass);

}  // namespace transformer
