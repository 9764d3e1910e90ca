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
  BleuScore bleu;
  std::vector<std::string> hypotheses;
};

// Throws UserError, with file and line, where a source is too long to be translated or a target to
// be scored.
void check_lengths(const EvaluationSet& set, const ModelConfig& model,
                   const DecodingConfig& decoding);

// A model's figures on a set: perplexity of the references, and BLEU of its translations. Nothing
// where options.stop ended it. Throws UserError as check_lengths does, and NotFinite.
std::optional<Evaluation> evaluate(Translator& translator, const EvaluationSet& set,
                                   int64_t tokens_per_batch, const SearchOptions& options = {});

}  // namespace transformer
