#pragma once

#include "transformer/nn/masks.h"

namespace transformer {

// What a mask leaves of equation 1's softmax where all scores are alike: 1 / (positions that the
// query may look at) on each of them and 0 on the others; nothing in a row where it may look at
// none. By the model's own scaled_dot_product. Returns [batch, queries, keys].
torch::Tensor mask_weights(const Mask& mask, int64_t batch, int64_t queries, int64_t keys);

}  // namespace transformer
