#pragma once

#include "transformer/config.h"
#include "transformer/nn/model.h"
#include "transformer/train/batch_tensors.h"

namespace transformer {

// The model that training of this experiment would begin with. Throws UserError where V is not
// stated.
Transformer initialised_model(const Config& config);

// Sentences of one length, without padding: word-pieces drawn by training.seed.
BatchTensors drawn_batch(const Config& config, int64_t sentences, int64_t length);

}  // namespace transformer
