#pragma once

// What a run holds in memory, from what the kernels keep (nn/kernels/): an estimate for plans and
// for refusals, in bytes, of float32 on CPUs.

#include <cstdint>

#include "transformer/analysis/flops.h"
#include "transformer/config.h"

namespace transformer {

// Positions without padding are all that is computed; attention_drop alone computes padding too.
struct BatchSize {
  BatchShape shape;
  int64_t source_tokens = 0;
  int64_t target_tokens = 0;
};
BatchSize without_padding(const BatchShape& shape);  // every sentence of the same length

struct TrainingMemory {
  double state = 0;  // 16 a parameter: weight, gradient and Adam's two moments
  double batch =
      0;  // what grows with it: kept for the backward pass, logits, gradients on their way
  double total() const { return state + batch; }
};

// Of a step on this batch. Kept are, for each position and layer: the input of each projection,
// feed-forward product and normalization; q, k, v and each head's normalizer, not the attention
// weights, but with attention_drop; what the feed-forward layer keeps of its inner width
// (choices/feed_forward.h). Dropout keeps nothing. And for each attention the matrices that are put
// side by side, for the loss one block of logits and the output matrix' gradient, and gradients by
// a sublayer's input on their way back. All of it a sixteenth more, for blocks are rounded up. The
// config is resolved and states V.
TrainingMemory training_memory(const ModelConfig& model, const BatchSize& batch);

// One batch of a search (decode/beam_search.h) by a model that translates.
struct SearchSize {
  int64_t sentences = 0;
  int64_t source_pieces = 0;  // of the longest
  int64_t pieces = 0;         // of the longest translation
  int64_t threads = 1;
};

// The cache of the decoder, which doubles its room and leaves the smaller ones behind; keys and
// values of the memory; what the encoder holds on its way; and the best pieces of each hypothesis,
// beam · beam of a sentence or beam · V. The weights in panels are apart.
double search_memory(const ModelConfig& model, const DecodingConfig& decoding,
                     const SearchSize& size);

// The most that a run's tensors hold at once: those of training, then those of the last evaluation.
// Memory that was freed stays with the process (kernels/cached_memory.h) until that is half of the
// most in use, so that the two add up to there. Sentences of 32 pieces, and as many translated,
// where there is a source to translate.
double run_memory(const Config& config, const BatchSize& largest);

}  // namespace transformer
