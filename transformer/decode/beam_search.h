#pragma once

#include <torch/types.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
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

// What a sentence counts in tokens_per_batch: the most pieces that its hypotheses may have
// together.
int64_t search_tokens(int64_t source_pieces, const DecodingConfig& decoding);

// Where the time of a search goes, added up.
struct SearchProfile {
  double encoder = 0;  // seconds, the memory's keys and values included
  double decoder = 0;
  double output = 0;  // the output projection and the best of it
  double search = 0;  // hypotheses, and reordering the cache
  int64_t steps = 0;
  int64_t rows = 0;  // over all steps
  double flops = 0;  // analysis/flops.h, padding included
};

// A hypothesis at a step of a search, as a node of the tree that they make.
struct SearchNode {
  int64_t parent = -1;  // the node that it continues; -1: begin of sentence
  int32_t piece = 0;    // written at this step; end of sentence where it is finished
  double log_probability = 0.0;
};

// What the caller of a search hears from it, and can say to it.
struct SearchOptions {
  std::function<void(size_t)> on_done = nullptr;  // how many sentences are done
  // Read before every step. Once it is true the search ends: sentences that are not done have no
  // hypotheses.
  const std::atomic<bool>* stop = nullptr;
  // Every translation has exactly so many pieces, for measuring: it cannot end before.
  std::optional<int64_t> pieces = std::nullopt;
  SearchProfile* profile = nullptr;
  // Of one sentence searched alone: every hypothesis that was kept, step by step.
  std::vector<SearchNode>* history = nullptr;

  bool stopped() const { return stop != nullptr && stop->load(); }
};

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
// Sentences of like length are searched together, the longest first, as many as sentences_per_batch
// and tokens_per_batch allow (or one); the result is the same alone and in any batch, up to the
// rounding of matrix products of different size. No gradients, and no dropout: the model is left in
// the mode it came in. Throws Failure where the model gives a number that is not finite, and
// UserError where a batch clearly needs more memory than there is (train/largest_batch.h says what
// is clear).
std::vector<std::vector<Hypothesis>> beam_search(Transformer& model,
                                                 const std::vector<std::vector<int32_t>>& sources,
                                                 const DecodingConfig& decoding,
                                                 torch::Device device,
                                                 const SearchOptions& options = {});

}  // namespace transformer
