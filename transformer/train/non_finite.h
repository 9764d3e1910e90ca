#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "transformer/train/step.h"

namespace transformer {

// The first tensor of a step that is not finite, in the order of the computation.
struct NonFinite {
  std::string layer;   // its registered name: encoder.layers.0.self_attention
  std::string tensor;  // "output", "gradient of output", ...
  int64_t values = 0;  // of them are not finite
  int64_t of = 0;

  // "encoder.layers.0.self_attention: output: 3 of 128 values"
  std::string text() const;
};

// Runs the step again and looks on: weights, then every residual connection (its input, what its
// sublayer is given and returns, its output), the loss, and backwards the gradients of the same,
// then those of the weights, and their norms. The same arguments give the same dropout. Empty where
// all are finite. Leaves the step's gradients in the model.
std::optional<NonFinite> first_non_finite(Transformer& model, const std::vector<Batch>& batches,
                                          const Corpus* corpus, const TrainingConfig& training,
                                          int64_t step, const torch::Device& device,
                                          const StepShare& share = {});

}  // namespace transformer
