#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "transformer/decode/translate.h"

namespace transformer {

struct PairScore {
  double log_probability = 0;   // natural, of the target given the source, end-of-sentence included
  std::vector<int32_t> pieces;  // of the target, end-of-sentence last; none where it was not scored
  std::vector<double> piece_log_probabilities;
};

// Of line i of `targets` given line i of `sources`, without label smoothing and length penalty.
// Pairs of like length are scored together, as many as decoding.sentences_per_batch and
// decoding.tokens_per_batch allow. Once `stop` is true, those of the batches that are left are not
// scored. Throws UserError where the numbers of lines differ or a line is too long; `first` is the
// number of the first one in messages.
std::vector<PairScore> score(Translator& translator, const std::vector<std::string>& sources,
                             const std::vector<std::string>& targets,
                             const std::atomic<bool>* stop = nullptr, size_t first = 1);

}  // namespace transformer
