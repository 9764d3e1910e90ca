#include "transformer/analysis/decoding_cache.h"

namespace transformer {

int64_t cached_numbers(const ModelConfig& model) {
  if (!has_decoder(model.family)) return 0;
  return model.N * model.kv_heads * (model.d_k + model.d_v);
}

double cached_bytes(const ModelConfig& model, int64_t bits) {
  return static_cast<double>(cached_numbers(model)) * static_cast<double>(bits) / 8;
}

double projections_saved(int64_t n) { return (static_cast<double>(n) + 1) / 2; }

}  // namespace transformer
