#pragma once

#include <torch/types.h>

#include <optional>
#include <string>
#include <vector>

#include "transformer/config.h"
#include "transformer/data/tokenizer.h"
#include "transformer/decode/beam_search.h"
#include "transformer/nn/model.h"

namespace transformer {

// A model with the vocabularies it was trained on.
struct Translator {
  Transformer model;
  Tokenizer source;
  Tokenizer target;
  DecodingConfig decoding;
  torch::Device device = torch::kCPU;
};

// Throws UserError, naming the family and what there is instead, where the model does not read a
// source. `where` stands first: what was asked for.
void expect_translates(const ModelConfig& model, const std::string& where);

// A line's word-pieces, then end of sentence; nothing for an empty line.
std::vector<int32_t> source_pieces(const Translator& translator, const std::string& line);

// Why a line of so many word-pieces cannot be translated: more than the model's positions or
// decoding.tokens_per_batch allow. Nothing where it can.
std::optional<std::string> too_long(int64_t pieces, const ModelConfig& model,
                                    const DecodingConfig& decoding);

struct Translation {
  std::string text;               // one line: control characters are written as spaces
  double log_probability = 0;     // natural, summed over the pieces and end-of-sentence
  double score = 0;               // by which the beam chose: divided by the length penalty
  std::vector<int32_t> pieces{};  // without end of sentence
};

// Each sentence's translations, the best first, at most decoding.beam of them; of a sentence
// without pieces, one without text. None where options.stop ended the search before it was done.
// Batches and their order change a translation only where two hypotheses' scores are as near as
// rounding. Throws UserError as expect_translates does.
std::vector<std::vector<Translation>> translate(Translator& translator,
                                                const std::vector<std::vector<int32_t>>& sources,
                                                const SearchOptions& options = {});

}  // namespace transformer
