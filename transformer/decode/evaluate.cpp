#include "transformer/decode/evaluate.h"

namespace transformer {

Evaluation evaluate(Translator& translator, const EvaluationSet& set, int64_t tokens_per_batch,
                    const std::function<void(size_t)>& on_done) {
  Evaluation evaluation;
  evaluation.perplexity =
      perplexity(translator.model, set.corpus, tokens_per_batch, translator.device);
  for (auto& each : translate(translator, set.text.source, on_done)) {
    evaluation.hypotheses.push_back(std::move(each.text));
  }
  evaluation.bleu = corpus_bleu(evaluation.hypotheses, set.text.target);
  return evaluation;
}

}  // namespace transformer
