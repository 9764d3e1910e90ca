#include "transformer/analysis/residual_observation.h"

#include <torch/torch.h>

#include "tests/catch.h"
#include "tests/nn/configs.h"
#include "transformer/nn/init.h"

using namespace transformer;

namespace {

torch::Tensor observed_source() { return torch::tensor({{5, 9, 4, 16, 3}, {8, 6, 3, 0, 0}}); }
torch::Tensor observed_target() { return torch::tensor({{2, 10, 7, 7}, {2, 11, 5, 0}}); }

torch::Tensor layer_norm_of(const torch::Tensor& x) {
  return at::layer_norm(x, {x.size(-1)}, {}, {}, 1e-6);
}

}  // namespace

TEST_CASE("observation: what passes is what the formula of each placement joins", "[numeric]") {
  auto config = small_model();
  for (const auto placement : {NormPlacement::post, NormPlacement::pre}) {
    config.norm_placement = placement;
    Transformer model(config);
    initialise(*model, 3);
    const auto before = model(observed_source(), observed_target());
    {
      const ResidualObservation observation(model);
      REQUIRE(model(observed_source(), observed_target()).equal(before));
      const auto& passes = observation.passes();
      REQUIRE(passes.size() == 2 * (2 + 3));
      REQUIRE(passes[0].sublayer == "encoder.layers.0.self_attention");
      REQUIRE(passes[3].sublayer == "encoder.layers.1.feed_forward");
      REQUIRE(passes[8].sublayer == "decoder.layers.1.cross_attention");
      for (size_t i = 0; i < passes.size(); ++i) {
        const auto& [trunk, input, branch, output] = passes[i].pass;
        const bool is_post = placement == NormPlacement::post;
        REQUIRE(torch::allclose(input, is_post ? trunk : layer_norm_of(trunk), 1e-4, 1e-5));
        const auto sum = trunk + branch;
        REQUIRE(torch::allclose(output, is_post ? layer_norm_of(sum) : sum, 1e-4, 1e-5));
        if (i != 0 && i != 4) REQUIRE(trunk.equal(passes[i - 1].pass.output));
      }
    }
    REQUIRE(model(observed_source(), observed_target()).equal(before));
  }
}

TEST_CASE("observation: a sublayer's name tells its stack and layer") {
  const SublayerName name("decoder.layers.12.cross_attention");
  REQUIRE(name.stack == "decoder");
  REQUIRE(name.layer == 12);
  REQUIRE(name.sublayer == "cross_attention");
  REQUIRE_THROWS(SublayerName("encoder.norm"));
}
