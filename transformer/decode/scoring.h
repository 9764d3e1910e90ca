#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "transformer/decode/translate.h"

namespace transformer {

struct PairScore {
  double log_probability = 0;   // natural, of the target given the source where the model reads
                                // one, end-of-sentence included
  std::vector<int32_t> pieces;  // of the target, end-of-sentence last; none where it was not scored
  std::vector<double> piece_log_probabilities;
};

// Why a line of so many word-pieces, end-of-sentence included, cannot be scored: more than the
// model's positions or decoding.tokens_per_batch allow. Nothing where it can.
std::optional<std::string> too_long_to_score(int64_t pieces, const ModelConfig& model,
                                             const DecodingConfig& decoding);

struct ScoreOptions {
  const std::atomic<bool>* stop = nullptr;  // once it is true, the batches left are not scored
  // In messages: the files, and the number of the first line.
  std::string source = "source";
  std::string target = "target";
  size_t first = 1;
};

// Throws UserError where the model gives sentences no probability. `where` stands first.
void expect_scores(const ModelConfig& model, const std::string& where);

// Of line i of `targets` given line i of `sources`, without label smoothing and length penalty. A
// model that reads no source has no `sources`.
// Pairs of like length are scored together, as many as decoding.sentences_per_batch and
// decoding.tokens_per_batch allow. Throws UserError where the numbers of lines differ or a line is
// too long, and as expect_scores does.
std::vector<PairScore> score(Translator& translator, const std::vector<std::string>& sources,
                             const std::vector<std::string>& targets,
                             const ScoreOptions& options = {});

}  // namespace transformer
