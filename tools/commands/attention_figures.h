#pragma once

// The attention weights of a sentence pair as figures: of `inspect attention` and the live page.

#include <cstdint>
#include <string>
#include <vector>

#include "transformer/analysis/residual_observation.h"
#include "transformer/decode/load.h"

namespace transformer {

// A sentence as the model reads it.
struct Pieces {
  std::vector<int32_t> ids;
  std::vector<std::string> texts;
};

// With end of sentence behind it: an encoder's input.
Pieces pieces_of_source(const Tokenizer& tokenizer, const std::vector<int32_t>& ids);
// With begin of sentence before it: the decoder's input.
Pieces pieces_of_target(const Tokenizer& tokenizer, const std::vector<int32_t>& ids);

// Which attentions and heads; -1: all.
struct AttentionChoice {
  std::string kind;  // encoder, decoder, cross, or empty
  int64_t layer = -1;
  int64_t head = -1;
};

// Throws UserError, with `where` first, on what is no kind, or none that the model has.
void expect_kind(const std::string& kind, const ModelConfig& model, const std::string& where);

// encoder, decoder or cross
std::string kind_of(const SublayerName& name);
bool is_chosen(const AttentionChoice& choice, const SublayerName& name);
std::vector<int64_t> chosen_heads(const AttentionChoice& choice, int64_t h);

// {"source", "target", "attention": [{"attention", "kind", "layer", "heads": [{"head",
// "weights": [query][key]}]}]}
Json attention_figures(Translator& translator, const Pieces& source, const Pieces& target,
                       const AttentionChoice& choice);

}  // namespace transformer
