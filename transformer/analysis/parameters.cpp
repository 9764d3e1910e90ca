#include "transformer/analysis/parameters.h"

#include "transformer/error.h"

namespace transformer {

namespace {

int64_t attention(const ModelConfig& model) {
  const int64_t q = model.h * model.d_k;
  const int64_t k = model.kv_heads * model.d_k;
  const int64_t v = model.kv_heads * model.d_v;
  const int64_t o = model.h * model.d_v;
  const int64_t biases = model.attention_bias ? q + k + v + model.d_model : 0;
  return model.d_model * (q + k + v + o) + biases;
}

int64_t feed_forward(const ModelConfig& model) {
  const int64_t inner = model.inner_width();
  const int64_t into = is_gated(model.feed_forward) ? 2 : 1;  // matrices d_model -> inner
  return into * (model.d_model * inner + inner) + inner * model.d_model + model.d_model;
}

int64_t norm(const ModelConfig& model) { return (has_bias(model.norm) ? 2 : 1) * model.d_model; }

int64_t final_norms(const ModelConfig& model) { return ends_in_norm(model.norm_placement) ? 1 : 0; }

int64_t positions(const ModelConfig& model) {
  const bool has_tables = place_of(model.positions) == PositionPlace::learned_table;
  const int64_t sides = reads_source(model.family) ? 2 : 1;
  return has_tables ? sides * model.max_positions * model.d_model : 0;
}

}  // namespace

ParameterCount count_parameters(const ModelConfig& model) {
  if (!model.V.stated()) {
    throw UserError("model.V: expected the number of word-pieces, to count parameters; got null");
  }
  const int64_t encoder = has_encoder(model.family) ? 1 : 0;
  const int64_t decoder = has_decoder(model.family) ? 1 : 0;
  const int64_t cross = reads_source(model.family) ? 1 : 0;
  const int64_t target_table = model.V * model.d_model;
  const int64_t source_table = cross * model.source_V * model.d_model;
  return {.embedding = model.tie_embeddings ? target_table : source_table + target_table,
          .positions = positions(model),
          .encoder_attention = encoder * model.N * attention(model),
          .encoder_feed_forward = encoder * model.N * feed_forward(model),
          .encoder_norm = encoder * (2 * model.N + final_norms(model)) * norm(model),
          .decoder_self_attention = decoder * model.N * attention(model),
          .decoder_cross_attention = cross * model.N * attention(model),
          .decoder_feed_forward = decoder * model.N * feed_forward(model),
          .decoder_norm = decoder * ((2 + cross) * model.N + final_norms(model)) * norm(model),
          .output = model.tie_embeddings ? 0 : target_table};
}

}  // namespace transformer
