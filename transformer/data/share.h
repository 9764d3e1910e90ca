#pragma once

#include <cstdint>
#include <vector>

#include "transformer/data/batches.h"

namespace transformer {

// What one of `ranks` processes does of a step's batches: every sentence falls to one of them, and
// each rank has as many word-pieces of both sides as another, but for one sentence. Up to `ranks`
// batches are divided as one, so that a rank accumulates no more batches than it must and none of
// them is larger than data.tokens_per_batch means it to be; by length, so that there is little
// padding. Outlines (batches.h), some of which may have no sentence; of one rank alone the batches
// themselves.
std::vector<Batch> share_of(const Corpus& corpus, const std::vector<Batch>& batches, int64_t rank,
                            int64_t ranks);

}  // namespace transformer
