#include "transformer/analysis/embedding_scale.h"

#include <torch/torch.h>

#include <cmath>

#include "tests/catch.h"
#include "transformer/nn/init.h"

using namespace transformer;

TEST_CASE("embedding scale: N(0, d_model^-0.5) rows have norm 1, and sqrt(d_model) when scaled",
          "[numeric]") {
  Config config;
  config.model.N = 1;
  config.model.d_model = 128;
  config.model.d_ff = 16;
  config.model.V = 500;
  for (const auto positions :
       {PositionKind::sinusoidal, PositionKind::learned, PositionKind::none}) {
    config.model.positions = positions;
    config.model.tie_embeddings = positions != PositionKind::none;
    Transformer model(resolve(config).model);
    initialise(*model, 5);
    const auto ids = torch::randint(4, 500, {6, 30}, torch::kLong);
    const auto scales = embedding_scales(model, ids, ids.flip(1).narrow(1, 0, 20));
    for (const auto& scale : {*scales.source, scales.target}) {
      // The norm of 128 such numbers has the mean 0.998 and the deviation 0.0625; 120 rows at
      // least.
      REQUIRE(scale.embedding == Approx(1).margin(0.03));
      REQUIRE(scale.scaled / scale.embedding == Approx(std::sqrt(128.0)).epsilon(1e-4));
      if (positions == PositionKind::sinusoidal) {
        REQUIRE(scale.position == Approx(std::sqrt(64.0)));
        REQUIRE(scale.sum == Approx(std::sqrt(128.0 + 64.0)).epsilon(0.05));
      }
      if (positions == PositionKind::learned) REQUIRE(scale.position == Approx(1).margin(0.1));
      if (positions == PositionKind::none) REQUIRE(scale.position == 0);
    }
    REQUIRE(scales.source->embedding != scales.target.embedding);
  }
}
