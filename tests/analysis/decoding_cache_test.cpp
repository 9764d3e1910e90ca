#include "transformer/analysis/decoding_cache.h"

#include "tests/catch.h"
#include "tests/nn/configs.h"
#include "transformer/nn/attention.h"

using namespace transformer;

TEST_CASE("decoding cache: base keeps 12,288 bytes a token in 16 bits") {
  Config config;
  REQUIRE(cached_bytes(resolve(config).model, 16) == 12288);
  REQUIRE(cached_bytes(resolve(config).model, 32) == 24576);
  config.model.kv_heads = 1;
  REQUIRE(cached_bytes(resolve(config).model, 16) == 1536);
}

TEST_CASE("decoding cache: the closed form counts what attention hands the cache", "[numeric]") {
  auto config = small_model();
  for (const int64_t kv_heads : {4, 2, 1}) {
    config.kv_heads = kv_heads;
    MultiHeadAttention attention(config);
    const auto kept = attention->keys_values(torch::zeros({1, 7, config.d_model}));
    REQUIRE(7 * cached_numbers(config) == config.N * (kept.keys.numel() + kept.values.numel()));
  }
}

TEST_CASE("decoding cache: projections saved, step by step") {
  for (const int64_t n : {1, 2, 9, 1024}) {
    int64_t with = 0, without = 0;
    for (int64_t step = 1; step <= n; ++step) {
      with += 1;
      without += step;
    }
    REQUIRE(projections_saved(n) == static_cast<double>(without) / static_cast<double>(with));
  }
  REQUIRE(projections_saved(1024) == 512.5);
}
