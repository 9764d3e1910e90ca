#pragma once

#include <torch/types.h>

#include <cstdint>
#include <vector>

#include "transformer/config.h"
#include "transformer/data/batches.h"
#include "transformer/nn/model.h"
#include "transformer/train/adam.h"

namespace transformer {

struct StepSums {
  double smoothed = 0;  // losses over the target tokens, natural logarithms
  double nll = 0;
  int64_t source_tokens = 0;
  int64_t target_tokens = 0;
};

// Leaves in the model's parameters the gradients of the mean loss over the target tokens of all the
// batches together, so that k small batches are one large one. A batch that is an outline is made
// from `corpus` in its turn; null where there is none. `step` counts from 1 and decides the
// dropout. Stops at a batch whose loss is not finite, whose sums then say so.
StepSums gradients_of(Transformer& model, const std::vector<Batch>& batches, const Corpus* corpus,
                      const TrainingConfig& training, int64_t step, const torch::Device& device);

// The L2 norm of all gradients together.
double gradient_norm(const Adam::Parameters& parameters);

}  // namespace transformer
