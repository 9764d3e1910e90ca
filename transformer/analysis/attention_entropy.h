#pragma once

#include <torch/types.h>

#include <vector>

namespace transformer {

// The entropy -sum p ln p of each head's attention weights, the mean over the queries in `rows`: 0
// where each looks at one position alone, ln n where at n alike. weights: [batch, h, q_time,
// k_time], rows: [batch, q_time] bool.
std::vector<double> attention_entropy(const torch::Tensor& weights, const torch::Tensor& rows);

}  // namespace transformer
