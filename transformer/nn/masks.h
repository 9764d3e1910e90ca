#pragma once

#include <torch/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace transformer {

// Sentences one after the other without padding: sentence i is rows starts[i] .. starts[i + 1] - 1.
using Starts = std::vector<int64_t>;

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
  std::optional<torch::Tensor> bias = std::nullopt;  // [h, q_time, k_time], added to the scores

  // Where queries and keys are packed, [tokens, width] instead of [batch, time, width]: a query
  // looks at keys of its own sentence alone. Then `allowed` is empty.
  std::shared_ptr<const Starts> query_starts = nullptr;
  std::shared_ptr<const Starts> key_starts = nullptr;

  bool is_packed() const { return query_starts != nullptr; }
  // For what looks at itself: causal, of the same sentences as these queries.
  Mask causal_of_queries() const {
    return {.causal = true, .query_starts = query_starts, .key_starts = query_starts};
  }

  // Both as one tensor, or nothing where everything is allowed.
  std::optional<torch::Tensor> combined(int64_t time, const torch::Device& device) const;
};

}  // namespace transformer
