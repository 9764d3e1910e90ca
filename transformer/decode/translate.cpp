#include "transformer/decode/translate.h"

#include <algorithm>

#include "transformer/error.h"

namespace transformer {

namespace {

// A byte that has a piece of its own may be anything, a line feed too.
std::string one_line(std::string text) {
  std::ranges::replace_if(
      text, [](char c) { return static_cast<unsigned char>(c) < ' '; }, ' ');
  return text;
}

// What can be had of a model that reads no source.
std::string instead(Family family) {
  return scores_sentences(family) ? "evaluate gives its perplexity, score --target the "
                                    "log-probabilities of sentences"
                                  : "evaluate gives its perplexity over masked word-pieces";
}

}  // namespace

void expect_translates(const ModelConfig& model, const std::string& where) {
  if (reads_source(model.family)) return;
  throw UserError(where + ": the model's family is " + name_of(model.family) +
                  ", which reads no source and translates nothing; " + instead(model.family));
}

std::vector<int32_t> source_pieces(const Translator& translator, const std::string& line) {
  auto pieces = translator.source.encode(line);
  if (!pieces.empty()) pieces.push_back(kEos);
  return pieces;
}

std::optional<std::string> too_long(int64_t pieces, const ModelConfig& model,
                                    const DecodingConfig& decoding) {
  int64_t most = decoding.tokens_per_batch / decoding.beam - decoding.max_extra_length;
  std::string key = "decoding.tokens_per_batch = " + std::to_string(decoding.tokens_per_batch) +
                    " with decoding.beam = " + std::to_string(decoding.beam);
  if (model.positions == PositionKind::learned && model.max_positions - 1 < most) {
    most = model.max_positions - 1;
    key = "model.max_positions = " + std::to_string(model.max_positions);
  }
  if (pieces <= most) return std::nullopt;
  return std::to_string(pieces) + " word-pieces; " + key + " allows " + std::to_string(most);
}

std::vector<std::vector<Translation>> translate(Translator& translator,
                                                const std::vector<std::vector<int32_t>>& sources,
                                                const SearchOptions& options) {
  expect_translates(translator.model->config(), "translate");
  std::vector<std::vector<Translation>> translations(sources.size());
  std::vector<std::vector<int32_t>> written;  // the sentences that say something
  std::vector<size_t> lines;                  // where they stand
  for (size_t i = 0; i < sources.size(); ++i) {
    if (sources[i].empty()) {
      translations[i].emplace_back();
    } else {
      written.push_back(sources[i]);
      lines.push_back(i);
    }
  }
  auto heard = options;
  if (options.on_done) {
    heard.on_done = [&](size_t done) { options.on_done(done + sources.size() - written.size()); };
  }
  const auto found =
      beam_search(translator.model, written, translator.decoding, translator.device, heard);
  for (size_t k = 0; k < found.size(); ++k) {
    for (const Hypothesis& each : found[k]) {
      translations[lines[k]].push_back({one_line(translator.target.decode(each.pieces)),
                                        each.log_probability, each.score, each.pieces});
    }
  }
  return translations;
}

}  // namespace transformer
