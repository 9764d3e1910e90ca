#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "transformer/decode/translate.h"

namespace transformer {

struct PairScore {
  double log_probability = 0;   // natural, of the target given the source, end-of-sentence included
  std::vector<int32_t> pieces;  // of the target, end-of-sentence last
  std::vector<double> piece_log_probabilities;
};

// Of line i of `targets` given line i of `sources`, without label smoothing and length penalty.
// Throws UserError where the numbers of lines differ.
std::vector<PairScore> score(Translator& translator, const std::vector<std::string>& sources,
                             const std::vector<std::string>& targets);

}  // namespace transformer
