#pragma once

#include <torch/types.h>

#include <optional>

namespace transformer {

// A mask is bool, true = may look, and broadcasts to [batch, h, q_time, k_time].

// ids: [batch, time] int64. Returns [batch, 1, 1, time]: true where a word-piece stands, false on
// padding.
torch::Tensor padding_mask(const torch::Tensor& ids, int64_t padding = 0);

// Section 3.2.3: position i may look at 0..i. Returns [time, time].
torch::Tensor causal_mask(int64_t time, const torch::Device& device);

// What the queries of an attention may look at: everything, unless either says less. Causality is
// kept apart from the tensor because the fast path needs none for it.
struct Mask {
  std::optional<torch::Tensor> allowed = std::nullopt;
  bool causal = false;  // query i looks at keys 0..i alone; q_time = k_time

  // Both as one tensor, or nothing where everything is allowed.
  std::optional<torch::Tensor> combined(int64_t time, const torch::Device& device) const;
};

}  // namespace transformer
