#include "transformer/decode/load.h"

#include "tests/catch.h"
#include "tests/nn/configs.h"
#include "transformer/error.h"

using namespace transformer;
using Catch::Matchers::Contains;

TEST_CASE("load: a few bytes that ask for a model of any size are refused before it is built") {
  Config config;
  config.model.d_model = 1 << 20;
  config.model.d_ff = 1 << 20;
  config.model.V = 1 << 24;
  const State weights = {{"embedding.weight", torch::zeros({4, 4})}};
  REQUIRE_THROWS_AS(model_with(resolve(config).model, weights, "x"), UserError);
  REQUIRE_THROWS_WITH(model_with(resolve(config).model, weights, "x"),
                      Contains("parameters; it has 16"));
}

TEST_CASE("load: weights that are missing from a file are named") {
  REQUIRE_THROWS_WITH(model_with(small_model(), {}, "x"),
                      Contains("cross_attention.k.weight: missing from the file"));
}
