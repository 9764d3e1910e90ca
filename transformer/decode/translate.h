#pragma once

#include <torch/types.h>

#include <functional>
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

struct Translation {
  std::string text;
  double log_probability = 0;  // natural, summed over the pieces and end-of-sentence
  double score = 0;            // by which the beam chose: divided by the length penalty
};

// Line i of the result is that of `lines`. Sentences of like length are decoded together,
// decoding.sentences_per_batch at a time, which changes no translation. An empty line's translation
// is empty. `on_done` hears how many lines are done. Throws UserError where a line is too long for
// the model.
std::vector<Translation> translate(Translator& translator, const std::vector<std::string>& lines,
                                   const std::function<void(size_t)>& on_done = nullptr);

}  // namespace transformer
