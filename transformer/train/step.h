#pragma once

#include <torch/types.h>

#include <cstdint>
#include <vector>

#include "transformer/config.h"
#include "transformer/data/batches.h"
#include "transformer/nn/model.h"
#include "transformer/train/adam.h"

namespace transformer {

class Ranks;

// What of a step one process does (data/share.h); all of it where it is alone.
struct StepShare {
  int64_t rank = 0;       // decides the dropout: no two ranks draw the same
  int64_t predicted = 0;  // word-pieces of the whole step, of which the loss is the mean; 0: of
                          // the batches
};

// The share of one of several ranks in a step of these batches, all of them together.
StepShare step_share(Family family, const std::vector<Batch>& batches, int64_t rank, int64_t ranks);

struct StepSums {
  double smoothed = 0;  // losses over the predicted word-pieces, natural logarithms
  double nll = 0;
  int64_t source_tokens = 0;  // read
  int64_t target_tokens = 0;
  int64_t predicted = 0;  // data/task.h: all of the target's, or the masked ones
};

// Leaves in the model's parameters the gradients of the mean loss over what is predicted in all the
// batches together, so that k small batches are one large one. Batches are of pairs, of which the
// model is given what its task has (data/task.h). One that is an outline is made from `corpus` in
// its turn; null where there is none. `step` counts from 1 and decides dropout and masks. Stops at
// a batch whose loss is not finite, whose sums then say so. With `ranks` the gradients are the sums
// over theirs, each of its share; the sums are this rank's.
StepSums gradients_of(Transformer& model, const std::vector<Batch>& batches, const Corpus* corpus,
                      const TrainingConfig& training, int64_t step, const torch::Device& device,
                      const StepShare& share = {}, Ranks* ranks = nullptr);

// The L2 norm of all gradients together.
double gradient_norm(const Adam::Parameters& parameters);

}  // namespace transformer
