#pragma once

#include <cstdint>

#include "transformer/config.h"

namespace transformer {

// What decoding keeps (nn/decoder_cache.h) of every position of one translation: the keys and
// values of each decoder layer's self-attention, N · kv_heads · (d_k + d_v) numbers; and as many of
// every position of the memory, where there is one, for its cross-attention. 0 of a model without a
// decoder. The config is resolved.
int64_t cached_numbers(const ModelConfig& model);

// The same in bytes, for numbers of so many bits.
double cached_bytes(const ModelConfig& model, int64_t bits);

// How many times as often keys and values are projected without a cache: writing n word-pieces,
// step i projects i positions anew instead of one, 1 + 2 + ... + n instead of n.
double projections_saved(int64_t n);

}  // namespace transformer
