#pragma once

#include <optional>
#include <string>
#include <vector>

#include "transformer/data/dataset.h"
#include "transformer/decode/bleu.h"
#include "transformer/decode/translate.h"
#include "transformer/error.h"
#include "transformer/train/perplexity.h"

namespace transformer {

// The loss, or the perplexity that is its exponential, is beyond what numbers hold.
struct NotFinite : Failure {
  using Failure::Failure;
};

struct Evaluation {
  Perplexity perplexity;
  std::optional<BleuScore> bleu;        // of a model that translates
  std::vector<std::string> hypotheses;  // none of one that does not
};

// Throws UserError, with file and line, where a source that is read is too long to be translated or
// a target to be scored; and where there is no word-piece to predict.
void check_lengths(const EvaluationSet& set, const ModelConfig& model,
                   const DecodingConfig& decoding);

// A model's figures on a set: perplexity (train/perplexity.h) of the references, and BLEU of its
// translations where it makes any. Nothing where options.stop ended it. Throws UserError as
// check_lengths does, and NotFinite.
std::optional<Evaluation> evaluate(Translator& translator, const EvaluationSet& set,
                                   int64_t tokens_per_batch, const SearchOptions& options = {});

}  // namespace transformer
