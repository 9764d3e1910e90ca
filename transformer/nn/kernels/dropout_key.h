#pragma once

#include <torch/types.h>

#include <cstdint>

#include "transformer/nn/kernels/random_mask.h"

namespace transformer {

// What a dropout's mask is made from: one draw from the default CPU generator a dropout, whatever
// its size. None, and 0, where p is 0.
uint64_t draw_dropout_key(double p);

// x · mask, for a contiguous x.
torch::Tensor masked_by(const torch::Tensor& x, const RandomMask& mask);

// to = add + x · mask, entry by entry; add may be null.
void add_masked_to(const float* add, const float* x, const RandomMask& mask, int64_t count,
                   float* to);

}  // namespace transformer
