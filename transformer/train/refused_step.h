#pragma once

#include <string>
#include <vector>

#include "transformer/data/batches.h"
#include "transformer/train/trainer.h"

namespace transformer {

// Ends training at a step that is not finite: finds the first tensor that is not, leaves a dump at
// task.dump, and throws Diverged with step, tensor, pairs of the batch and the dump's place. `what`
// showed it: "the loss". Rank 0 does so for all ranks, and the others wait.
[[noreturn]] void refuse_step(Transformer& model, const TrainingTask& task,
                              const std::vector<Batch>& batches, int64_t step,
                              const std::string& what, Ranks& ranks);

}  // namespace transformer
