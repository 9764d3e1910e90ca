#pragma once

#include "transformer/nn/model.h"

namespace transformer {

// Sets every weight, from `seed` alone and the same on every device: embeddings, the output matrix
// and learned positions N(0, d_model^-0.5) (the standard deviation), other matrices Xavier uniform,
// +- (6 / (rows + columns))^0.5, normalization gains 1, biases 0. Times beta
// (choices/norm_placement.h) where what a sublayer adds is linear in them: the feed-forward
// layers', v and o.
void initialise(TransformerImpl& model, int64_t seed);

}  // namespace transformer
