#include "transformer/analysis/parameters.h"

#include "tests/catch.h"
#include "tests/nn/configs.h"
#include "transformer/error.h"
#include "transformer/nn/model.h"

using namespace transformer;

namespace {

int64_t of(int64_t V, const std::vector<std::string>& overrides) {
  Config config;
  config.model.V = V;
  override_config(config, overrides);
  return count_parameters(resolve(config).model).total();
}

}  // namespace

TEST_CASE("parameters: the closed form counts what a built model has") {
  const auto same = [](const ModelConfig& config) {
    int64_t built = 0;
    for (const auto& parameter : Transformer(config)->parameters()) built += parameter.numel();
    REQUIRE(count_parameters(config).total() == built);
  };
  const auto plain = small_model();
  same(plain);
  auto config = plain;
  config.norm_placement = NormPlacement::pre;
  same(config);
  config.attention_bias = true;
  config.kv_heads = 2;
  same(config);
  config.positions = PositionKind::learned;
  same(config);
  config.tie_embeddings = false;
  config.source_V = 23;
  same(config);
}

TEST_CASE("parameters: base, by hand") {
  const int64_t attention = 4 * 512 * 512;
  const int64_t feed_forward = 512 * 2048 + 2048 + 2048 * 512 + 512;
  const int64_t norm = 2 * 512;
  REQUIRE(of(37000, {}) == 37000 * 512 + 6 * (attention + feed_forward + 2 * norm) +
                               6 * (2 * attention + feed_forward + 3 * norm));
}

TEST_CASE("parameters: every row of Table 3, counted apart for two vocabularies") {
  // The two columns were rounded after adding, hence the margin.
  struct Row {
    std::vector<std::string> set;
    double at_37000;  // millions
    double at_41100;
  };
  const std::vector<Row> rows = {
      {{}, 63.05, 65.15},
      {{"model.h=1"}, 63.05, 65.15},
      {{"model.h=4"}, 63.05, 65.15},
      {{"model.h=16"}, 63.05, 65.15},
      {{"model.h=32"}, 63.05, 65.15},
      {{"model.d_k=16"}, 55.97, 58.07},
      {{"model.d_k=32"}, 58.33, 60.43},
      {{"model.N=2"}, 33.65, 35.74},
      {{"model.N=4"}, 48.35, 50.44},
      {{"model.N=8"}, 77.75, 79.85},
      {{"model.d_model=256"}, 26.82, 27.87},
      {{"model.d_model=1024"}, 163.82, 168.01},
      {{"model.d_ff=1024"}, 50.45, 52.55},
      {{"model.d_ff=4096"}, 88.24, 90.34},
      {{"model.d_model=1024", "model.d_ff=4096", "model.h=16"}, 214.17, 218.37}};
  for (const auto& row : rows) {
    INFO((row.set.empty() ? "base" : row.set[0]));
    REQUIRE(static_cast<double>(of(37000, row.set)) / 1e6 == Approx(row.at_37000).margin(0.0101));
    REQUIRE(static_cast<double>(of(41100, row.set)) / 1e6 == Approx(row.at_41100).margin(0.0101));
  }
}

TEST_CASE("parameters: without a vocabulary there is no count") {
  REQUIRE_THROWS_WITH(count_parameters(resolve(Config{}).model),
                      Catch::Matchers::Contains("model.V: expected the number of word-pieces"));
}
