#include "tools/serve/model_answers.h"

#include <algorithm>

#include "tools/commands/attention_figures.h"
#include "transformer/decode/translate.h"
#include "transformer/error.h"
#include "transformer/printable.h"
#include "transformer/train/checkpoint.h"

namespace transformer {
namespace fs = std::filesystem;

namespace {

constexpr int64_t kMostPieces = 200;

std::vector<int32_t> encoded(const Tokenizer& tokenizer, const std::string& text) {
  constexpr size_t kMostBytes = 2000;
  if (text.size() > kMostBytes) {
    throw UserError("text: expected at most " + std::to_string(kMostBytes) + " bytes; got " +
                    std::to_string(text.size()));
  }
  auto ids = tokenizer.encode(text);
  if (ids.empty()) throw UserError("text: expected a sentence; got nothing");
  if (std::ssize(ids) > kMostPieces) {
    throw UserError("text: expected at most " + std::to_string(kMostPieces) + " word-pieces; got " +
                    std::to_string(ids.size()));
  }
  return ids;
}

DecodingConfig decoding_of(const LoadedModel& model, const TranslationRequest& request) {
  constexpr int64_t kWidest = 16;
  if (request.beam < 1 || request.beam > kWidest) {
    throw UserError("beam: expected 1.." + std::to_string(kWidest) + "; got " +
                    std::to_string(request.beam));
  }
  Config config = model.config;
  config.decoding.beam = request.beam;
  config.decoding.alpha = request.alpha;
  return resolve(config).decoding;
}

std::string shown_piece(const Tokenizer& tokenizer, int32_t id) {
  constexpr size_t kMost = 60;
  return printable(tokenizer.piece(id), kMost);
}

Json translations_json(const std::vector<Translation>& translations, const Tokenizer& tokenizer) {
  Json list = Json::array();
  for (const auto& each : translations) {
    Json pieces = Json::array();
    for (const int32_t id : each.pieces) pieces.push_back(shown_piece(tokenizer, id));
    list.push_back({{"text", each.text},
                    {"log_probability", each.log_probability},
                    {"score", each.score},
                    {"ids", each.pieces},
                    {"pieces", pieces}});
  }
  return list;
}

Json search_json(const std::vector<SearchNode>& history, const Tokenizer& tokenizer) {
  Json list = Json::array();
  for (const auto& node : history) {
    list.push_back({{"parent", node.parent},
                    {"piece", shown_piece(tokenizer, node.piece)},
                    {"log_probability", node.log_probability},
                    {"is_end", node.piece == kEos}});
  }
  return list;
}

}  // namespace

LoadedModel& ModelAnswers::loaded(const fs::path& folder) {
  constexpr size_t kKept = 2;
  const fs::path file = file_of_model(folder);
  const auto written = fs::last_write_time(file);
  const auto found = std::ranges::find_if(
      kept_, [&](const Loaded& each) { return each.file == file && each.written == written; });
  if (found != kept_.end()) {
    kept_.splice(kept_.begin(), kept_, found);
  } else {
    while (kept_.size() >= kKept) kept_.pop_back();
    kept_.push_front({file, written, load_model(folder, {}, torch::kCPU)});
  }
  return kept_.front().model;
}

Json ModelAnswers::translation(const fs::path& folder, const TranslationRequest& request,
                               const std::atomic<bool>& stop) {
  auto& model = loaded(folder);
  auto& translator = model.translator;
  expect_translates(model.config.model, "translate");
  auto ids = encoded(translator.source, request.text);
  const Pieces source = pieces_of_source(translator.source, ids);
  translator.decoding = decoding_of(model, request);
  if (const auto problem = too_long(std::ssize(ids), model.config.model, translator.decoding)) {
    throw UserError("text: " + *problem);
  }
  std::vector<SearchNode> history;
  const auto translations =
      translate(translator, {source.ids}, {.stop = &stop, .history = &history});
  const auto& sizes = model.config.model;
  return {{"source", source.texts},
          {"model",
           {{"N", sizes.N},
            {"h", sizes.h},
            {"d_model", sizes.d_model},
            {"norm_placement", name_of(sizes.norm_placement)},
            {"positions", name_of(sizes.positions)}}},
          {"translations", translations_json(translations[0], translator.target)},
          {"search", search_json(history, translator.target)}};
}

Json ModelAnswers::attention(const fs::path& folder, const AttentionRequest& request) {
  auto& model = loaded(folder);
  auto& translator = model.translator;
  const auto& sizes = model.config.model;
  expect_translates(sizes, "attention");
  expect_kind(request.kind, sizes, "kind");
  if (request.layer < 0 || request.layer >= sizes.N) {
    throw UserError("layer: expected 0.." + std::to_string(sizes.N - 1) + "; got " +
                    std::to_string(request.layer));
  }
  std::vector<int32_t> target;
  for (const int64_t id : request.ids) {
    if (id < 0 || id >= int64_t{sizes.V}) {
      throw UserError("ids: expected numbers below V = " + std::to_string(sizes.V) + "; got " +
                      std::to_string(id));
    }
    target.push_back(static_cast<int32_t>(id));
  }
  if (std::ssize(target) > 2 * kMostPieces) {
    throw UserError("ids: expected at most " + std::to_string(2 * kMostPieces) + "; got " +
                    std::to_string(target.size()));
  }
  return attention_figures(
      translator, pieces_of_source(translator.source, encoded(translator.source, request.text)),
      pieces_of_target(translator.target, target), {request.kind, request.layer});
}

}  // namespace transformer
