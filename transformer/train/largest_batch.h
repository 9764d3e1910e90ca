#pragma once

// A batch that does not fit into memory is found out before training, not after hours.

#include <torch/types.h>

#include "transformer/config.h"
#include "transformer/data/batches.h"
#include "transformer/nn/model.h"

namespace transformer {

// An outline of the batch that needs most memory (analysis/training_memory.h) of an epoch without
// chance; what chance does to one moves it by a sentence or two.
Batch largest_batch(const Corpus& corpus, const Config& config);

// Throws UserError, with what is needed, what is available and the numbers to change, where
// training on that batch needs clearly more memory on the CPU than there is (available_memory.h).
void expect_memory(const Batch& largest, const Config& config, const torch::Device& device);

// Forward and backward on that batch, after which the gradients are dropped: weights, optimizer and
// the run's random streams are as if it had not been. With accumulate above 1 twice, for the second
// finds the gradients of the first. Throws UserError as above where memory, also that of a GPU, is
// not enough.
void try_largest_batch(Transformer& model, const Batch& largest, const Corpus& corpus,
                       const Config& config, const torch::Device& device);

}  // namespace transformer
