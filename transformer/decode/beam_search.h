#pragma once

#include <torch/types.h>

#include <cstdint>
#include <vector>

#include "transformer/config.h"
#include "transformer/nn/model.h"

namespace transformer {

struct Hypothesis {
  std::vector<int32_t> pieces;   // without end of sentence
  double log_probability = 0.0;  // natural log, end of sentence included
  double score = 0.0;            // log_probability / length_penalty
};

// What a log-probability is divided by: ((5 + length) / 6)^alpha or length^alpha. Length counts the
// pieces and the end of sentence.
double length_penalty(const DecodingConfig& decoding, int64_t length);

// Beam search (section 6.1). Returns for each source sentence (its pieces, then end of sentence) at
// most `beam` hypotheses, the best score first.
//
// - At each step the best `beam` continuations of a sentence are found by log-probability. Those
//   that end are finished; the best `beam` that do not end go on.
// - The search ends as soon as there are `beam` finished hypotheses and none that goes on can beat
//   the worst of them: its log-probability only falls, and the penalty is at most that of the
//   greatest length. With beam = 1 it ends with the first, which is greedy search.
// - A translation has at most as many pieces as the source and max_extra_length more (and as
//   learned positions allow). One that gets there ends, with the probability the model gives to
//   ending there.
// - Padding and begin of sentence are never written, though their probability is not shared out.
// - Equal scores: the earlier hypothesis first, then the smaller piece.
//
// Sentences are searched sentences_per_batch at a time, like lengths together; the result is the
// same alone and in any batch, up to the rounding of matrix products of different size. No
// gradients, and no dropout: the model is left in the mode it came in. Throws Failure where the
// model gives a number that is not finite.
std::vector<std::vector<Hypothesis>> beam_search(Transformer& model,
                                                 const std::vector<std::vector<int32_t>>& sources,
                                                 const DecodingConfig& decoding,
                                                 torch::Device device);

}  // namespace transformer
