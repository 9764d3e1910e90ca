#pragma once

#include <torch/types.h>

#include <optional>

namespace transformer {

// How the gradient of an embedding's matrix is handed on. sparse: only the rows that were looked
// up, which autograd adds to the dense gradient that the same matrix has as the output projection;
// for a matrix with no other use that would stay sparse.
enum class EmbeddingGradient { dense, sparse };

// Row i: (scale · weight[ids[i]] + table[positions[i]]) · mask, with dropout p, in one pass.
// weight: [V, d_model], table: [any, d_model], ids and positions: [tokens] int64. On the CPU, in
// float32.
torch::Tensor embedded(const torch::Tensor& weight, const torch::Tensor& ids, double scale,
                       const std::optional<torch::Tensor>& table, const torch::Tensor& positions,
                       double p, EmbeddingGradient kind);

}  // namespace transformer
