#include "transformer/decode/evaluate.h"

#include <cmath>

#include "transformer/error.h"

namespace transformer {

std::optional<Evaluation> evaluate(Translator& translator, const EvaluationSet& set,
                                   int64_t tokens_per_batch, const SearchOptions& options) {
  std::vector<std::vector<int32_t>> sources;
  for (const auto& line : set.text.source) {
    sources.push_back(source_pieces(translator, line));
    if (const auto problem = too_long(std::ssize(sources.back()) - 1, translator.model->config(),
                                      translator.decoding)) {
      throw UserError("line " + std::to_string(sources.size()) + " of the source: " + *problem);
    }
  }
  Evaluation evaluation;
  evaluation.perplexity =
      perplexity(translator.model, set.corpus, tokens_per_batch, translator.device, options.stop);
  if (options.stopped()) return std::nullopt;
  if (!std::isfinite(evaluation.perplexity.nll)) {
    throw Failure("the model has diverged: the loss on this text is not finite");
  }
  const auto translations = translate(translator, sources, options);
  if (options.stopped()) return std::nullopt;
  for (const auto& each : translations) evaluation.hypotheses.push_back(each.front().text);
  evaluation.bleu = corpus_bleu(evaluation.hypotheses, set.text.target);
  return evaluation;
}

}  // namespace transformer
