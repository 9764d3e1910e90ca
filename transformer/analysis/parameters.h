#pragma once

#include <cstdint>

#include "transformer/config.h"

namespace transformer {

// Every trained scalar once: a matrix that is source embedding, target embedding and output
// projection in one is counted under `embedding` alone. The parts add up to `total()`.
struct ParameterCount {
  int64_t embedding = 0;          // V · d_model, of each side where not tied
  int64_t positions = 0;          // learned tables
  int64_t encoder_attention = 0;  // projections q, k, v, o of all layers
  int64_t encoder_feed_forward = 0;
  int64_t encoder_norm = 0;  // of the residual connections, and the final one with pre
  int64_t decoder_self_attention = 0;
  int64_t decoder_cross_attention = 0;
  int64_t decoder_feed_forward = 0;
  int64_t decoder_norm = 0;
  int64_t output = 0;  // the output projection where it is not tied

  int64_t encoder() const { return encoder_attention + encoder_feed_forward + encoder_norm; }
  int64_t decoder() const {
    return decoder_self_attention + decoder_cross_attention + decoder_feed_forward + decoder_norm;
  }
  int64_t total() const { return embedding + positions + encoder() + decoder() + output; }

  static void visit(auto& self, auto&& field) {
    field("embedding", self.embedding);
    field("positions", self.positions);
    field("encoder_attention", self.encoder_attention);
    field("encoder_feed_forward", self.encoder_feed_forward);
    field("encoder_norm", self.encoder_norm);
    field("decoder_self_attention", self.decoder_self_attention);
    field("decoder_cross_attention", self.decoder_cross_attention);
    field("decoder_feed_forward", self.decoder_feed_forward);
    field("decoder_norm", self.decoder_norm);
    field("output", self.output);
  }
  friend bool operator==(const ParameterCount&, const ParameterCount&) = default;
};

// Whether model.tie_embeddings can be: one matrix fits two sides of one vocabulary, or one side.
inline bool can_tie(const ModelConfig& model) {
  return !reads_source(model.family) || model.source_V == model.V;
}

// By closed form; no model is built. A stack that the family has not counts 0. The config is
// resolved. Throws UserError where V is not stated.
ParameterCount count_parameters(const ModelConfig& model);

}  // namespace transformer
