#pragma once

#include <optional>
#include <string>
#include <vector>

#include "transformer/data/dataset.h"
#include "transformer/decode/bleu.h"
#include "transformer/decode/translate.h"
#include "transformer/train/perplexity.h"

namespace transformer {

struct Evaluation {
  Perplexity perplexity;
  BleuScore bleu;
  std::vector<std::string> hypotheses;
};

// A model's figures on a set: perplexity of the references, and BLEU of its translations. Nothing
// where options.stop ended it. Throws UserError where a line is too long.
std::optional<Evaluation> evaluate(Translator& translator, const EvaluationSet& set,
                                   int64_t tokens_per_batch, const SearchOptions& options = {});

}  // namespace transformer
