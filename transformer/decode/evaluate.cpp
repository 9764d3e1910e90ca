#include "transformer/decode/evaluate.h"

#include <cmath>

#include "transformer/decode/scoring.h"
#include "transformer/error.h"

namespace transformer {

void check_lengths(const EvaluationSet& set, const ModelConfig& model,
                   const DecodingConfig& decoding) {
  const auto check = [](const std::filesystem::path& file, int64_t pair,
                        const std::optional<std::string>& problem) {
    if (!problem) return;
    throw UserError(file.string() + ": line " + std::to_string(pair + 1) + ": " + *problem);
  };
  int64_t predicted = 0;
  for (int64_t pair = 0; pair < set.corpus.size(); ++pair) {
    if (reads_source(model.family)) {
      const int64_t source = std::ssize(set.corpus.source(pair)) - 1;  // without end-of-sentence
      check(set.files.source, pair, too_long(source, model, decoding));
    }
    const int64_t target = std::ssize(set.corpus.target(pair));
    check(set.files.target, pair, too_long_to_score(target, model, decoding));
    predicted += predicted_pieces(model.family, target);
  }
  if (predicted == 0 && set.corpus.size() > 0) {
    throw UserError(set.files.target.string() + ": expected word-pieces to predict; got " +
                    std::to_string(set.corpus.size()) + " empty lines");
  }
}

std::optional<Evaluation> evaluate(Translator& translator, const EvaluationSet& set,
                                   int64_t tokens_per_batch, const SearchOptions& options) {
  check_lengths(set, translator.model->config(), translator.decoding);
  Evaluation evaluation;
  evaluation.perplexity =
      perplexity(translator.model, set.corpus, tokens_per_batch, translator.device, options.stop);
  if (options.stopped()) return std::nullopt;
  if (!std::isfinite(evaluation.perplexity.value())) {
    throw NotFinite("the model has diverged: its perplexity on this text is not finite");
  }
  if (!reads_source(translator.model->config().family)) return evaluation;
  std::vector<std::vector<int32_t>> sources;
  for (const auto& line : set.text.source) sources.push_back(source_pieces(translator, line));
  const auto translations = translate(translator, sources, options);
  if (options.stopped()) return std::nullopt;
  for (const auto& each : translations) evaluation.hypotheses.push_back(each.front().text);
  evaluation.bleu = corpus_bleu(evaluation.hypotheses, set.text.target);
  return evaluation;
}

}  // namespace transformer
