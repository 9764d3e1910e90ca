#include "transformer/analysis/tensor_shapes.h"

#include <torch/torch.h>

#include <map>

#include "tests/catch.h"
#include "tests/nn/configs.h"
#include "transformer/analysis/parameters.h"
#include "transformer/nn/init.h"

using namespace transformer;

namespace {

std::vector<ShapedTensor> shapes_of(const ModelConfig& config) {
  Transformer model(config);
  initialise(*model, 1);
  return tensor_shapes(model, torch::tensor({{5, 9, 4, 16, 3}, {8, 6, 3, 0, 0}}),
                       torch::tensor({{2, 10, 7, 7}, {2, 11, 5, 0}}));
}

}  // namespace

TEST_CASE("shapes: a batch of 2 sentences, 5 and 4 long, by hand", "[numeric]") {
  auto config = small_model();  // d_model 12, d_ff 20, h 4, d_k 5, d_v 3, V 17
  config.kv_heads = 2;
  std::map<std::string, std::vector<int64_t>> shapes;
  for (const auto& each : shapes_of(config)) shapes[each.place + " " + each.tensor] = each.shape;
  using Shape = std::vector<int64_t>;
  REQUIRE(shapes.at("source ids") == Shape{2, 5});
  REQUIRE(shapes.at("source mask") == Shape{2, 1, 1, 5});
  REQUIRE(shapes.at("source embedding · √d_model + position") == Shape{2, 5, 12});
  REQUIRE(shapes.at("encoder.layers.1.self_attention q") == Shape{2, 5, 20});
  REQUIRE(shapes.at("encoder.layers.1.self_attention k") == Shape{2, 2, 5, 5});
  REQUIRE(shapes.at("encoder.layers.1.self_attention v") == Shape{2, 2, 5, 3});
  REQUIRE(shapes.at("encoder.layers.1.self_attention weights") == Shape{2, 4, 5, 5});
  REQUIRE(shapes.at("encoder.layers.1.feed_forward inner") == Shape{2, 5, 20});
  REQUIRE(shapes.at("encoder memory") == Shape{2, 5, 12});
  REQUIRE(shapes.at("decoder.layers.0.self_attention weights") == Shape{2, 4, 4, 4});
  REQUIRE(shapes.at("decoder.layers.0.cross_attention weights") == Shape{2, 4, 4, 5});
  REQUIRE(shapes.at("decoder.layers.0.cross_attention k") == Shape{2, 2, 5, 5});
  REQUIRE(shapes.at("decoder.layers.0.cross_attention output") == Shape{2, 4, 12});
  REQUIRE(shapes.at("logits output · weightᵀ") == Shape{2, 4, 17});
}

TEST_CASE("shapes: the parameters add up to the model's", "[numeric]") {
  const auto same = [](const ModelConfig& config) {
    int64_t sum = 0;
    for (const auto& each : shapes_of(config)) sum += each.parameters;
    REQUIRE(sum == count_parameters(config).total());
  };
  auto config = small_model();
  same(config);
  config.norm_placement = NormPlacement::pre;
  config.attention_bias = true;
  same(config);
  config.positions = PositionKind::learned;
  config.tie_embeddings = false;
  config.source_V = 23;
  same(config);
}
