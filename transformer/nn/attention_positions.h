#pragma once

#include <torch/types.h>

#include <optional>
#include <vector>

#include "transformer/config.h"
#include "transformer/nn/masks.h"

namespace transformer {

// What a self-attention knows of positions (choices/positions.h): queries and keys that are turned,
// scores that fall with the distance. Nothing where the positions are added to the embeddings.
class AttentionPositions {
 public:
  explicit AttentionPositions(const ModelConfig& config);

  // Queries or keys, [batch, heads, time, d_k], that stand at first .. first + time - 1. Returns
  // the same shape, x itself where the kind does not act on them.
  torch::Tensor turn(const torch::Tensor& x, int64_t first);
  // The same for sentences without padding: [tokens, heads, d_k].
  torch::Tensor turn_packed(const torch::Tensor& x, const Starts& starts);

  // What is added to the scores of the last q_time of k_time positions: [h, q_time, k_time].
  std::optional<torch::Tensor> bias(int64_t q_time, int64_t k_time,
                                    const torch::TensorOptions& options) const;
  // The same as a slope for each head; empty where there is none.
  const std::vector<double>& slopes() const { return slopes_; }

  bool acts_on_queries_and_keys() const { return place_ == PositionPlace::queries_and_keys; }

 private:
  struct Angles {
    torch::Tensor cosine;  // [length at least, d_k / 2]
    torch::Tensor sine;
  };
  const Angles& angles_up_to(int64_t length, const torch::TensorOptions& options);

  PositionPlace place_;
  int64_t d_k_;
  std::vector<double> slopes_;
  Angles angles_;  // made so far; they follow from the config, so are not state
};

}  // namespace transformer
