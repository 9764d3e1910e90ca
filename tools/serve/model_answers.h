#pragma once

// What a trained model answers a page: translations with the beam that found them, and attention
// weights. Used by the model worker's thread alone.

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <list>
#include <string>
#include <vector>

#include "transformer/decode/load.h"

namespace transformer {

struct TranslationRequest {
  std::string checkpoint;  // its name in the overview
  std::string text;        // one sentence
  int64_t beam = 4;
  double alpha = 0.6;

  static void visit(auto& self, auto&& field) {
    field("checkpoint", self.checkpoint);
    field("text", self.text);
    field("beam", self.beam);
    field("alpha", self.alpha);
  }
};

struct AttentionRequest {
  std::string checkpoint;
  std::string text;            // the source sentence
  std::vector<int64_t> ids;    // of a translation's word-pieces, as they were answered
  std::string kind = "cross";  // encoder, decoder or cross
  int64_t layer = 0;

  static void visit(auto& self, auto&& field) {
    field("checkpoint", self.checkpoint);
    field("text", self.text);
    field("ids", self.ids);
    field("kind", self.kind);
    field("layer", self.layer);
  }
};

class ModelAnswers {
 public:
  // {"source": [PIECE], "model": {"N", "h", ...}, "translations": [{"text", "log_probability",
  // "score", "ids", "pieces"}], "search": [{"parent", "piece", "log_probability", "is_end"}]}.
  // Throws UserError where the model or the sentence does not fit.
  Json translation(const std::filesystem::path& model, const TranslationRequest& request,
                   const std::atomic<bool>& stop);
  // As `inspect attention --kind KIND --layer LAYER --json`.
  Json attention(const std::filesystem::path& model, const AttentionRequest& request);

 private:
  struct Loaded {
    std::filesystem::path file;
    std::filesystem::file_time_type written;
    LoadedModel model;
  };

  // Two are kept: to set one beside the other.
  LoadedModel& loaded(const std::filesystem::path& folder);

  std::list<Loaded> kept_;  // the last used first
};

}  // namespace transformer
