#include "transformer/choices/family.h"

#include <torch/torch.h>

#include "tests/catch.h"
#include "tests/nn/configs.h"
#include "transformer/analysis/decoding_cache.h"
#include "transformer/analysis/flops.h"
#include "transformer/analysis/parameters.h"
#include "transformer/analysis/training_memory.h"
#include "transformer/nn/init.h"
#include "transformer/nn/residual.h"

using namespace transformer;

namespace {

constexpr auto kAlone = {Family::decoder_only, Family::encoder_only};

ModelConfig base_of(Family family) {
  Config config;
  config.model.family = family;
  config.model.V = 37000;
  return resolve(config).model;
}

}  // namespace

TEST_CASE("family: masked tokens are 15 % of a sentence, one at least, and never its end") {
  REQUIRE(chosen_pieces(0) == 0);
  REQUIRE(chosen_pieces(1) == 1);
  REQUIRE(chosen_pieces(9) == 1);   // 1.35
  REQUIRE(chosen_pieces(10) == 2);  // 1.5
  REQUIRE(chosen_pieces(16) == 2);  // 2.4
  REQUIRE(chosen_pieces(17) == 3);  // 2.55
  REQUIRE(chosen_pieces(200) == 30);
  REQUIRE(predicted_pieces(Family::encoder_only, 201) == 30);
  REQUIRE(predicted_pieces(Family::encoder_only, 1) == 0);  // an empty line
  REQUIRE(predicted_pieces(Family::decoder_only, 201) == 201);
  REQUIRE(predicted_pieces(Family::encoder_decoder, 1) == 1);
}

TEST_CASE("family: parameters of one stack alone, by hand") {
  // V · d + N · (4 d² + 2 d d_ff + d_ff + d + 4 d): no cross-attention and no norm for one.
  const int64_t attention = 4 * 512 * 512;
  const int64_t feed_forward = 512 * 2048 + 2048 + 2048 * 512 + 512;
  const int64_t layers = 6 * (attention + feed_forward + 2 * (2 * 512));
  for (const auto family : kAlone) {
    auto model = base_of(family);
    REQUIRE(count_parameters(model).total() == 37000 * 512 + layers);
    model.tie_embeddings = false;  // one embedding, and the output
    REQUIRE(count_parameters(model).total() == 2 * 37000 * 512 + layers);
    model.norm_placement = NormPlacement::pre;
    model.positions = PositionKind::learned;
    REQUIRE(count_parameters(model).total() == 2 * 37000 * 512 + layers + 2 * 512 + 512 * 512);
  }
}

TEST_CASE("family: operations of one stack alone, by hand, whatever the source") {
  Config config;
  config.model.N = 1;
  config.model.d_model = 2;
  config.model.d_ff = 5;
  config.model.h = 1;
  config.model.d_k = 3;
  config.model.d_v = 4;
  config.model.V = 6;
  const double layer = (36 + 36 + 48 + 48 + 54 + 72) + (60 + 60);  // 3 positions
  config.model.family = Family::decoder_only;
  const auto decoder = resolve(config).model;
  REQUIRE(forward_flops(decoder, {7, 9, 3}) == 7 * (layer + 2 * 3 * 2 * 6));
  // The second word-piece of two sentences: projections, Q K^T and weights · V over 2, and logits.
  REQUIRE(step_flops(decoder, 2, 1, 9) == 2 * ((12 + 12 + 16 + 16) + (12 + 16) + (20 + 20) + 24));
  REQUIRE(cached_numbers(decoder) == 3 + 4);
  config.model.family = Family::encoder_only;
  const auto encoder = resolve(config).model;
  REQUIRE(forward_flops(encoder, {7, 9, 3}) == 7 * (layer + 2 * 1 * 2 * 6));  // one is masked
  REQUIRE(cached_numbers(encoder) == 0);
}

TEST_CASE("family: one stack alone keeps no more than what the two keep less the source's") {
  const BatchSize batch = without_padding({10, 0, 20});
  const auto both = training_memory(base_of(Family::encoder_decoder), batch);
  const auto decoder = training_memory(base_of(Family::decoder_only), batch);
  const auto encoder = training_memory(base_of(Family::encoder_only), batch);
  REQUIRE(decoder.state < both.state);
  REQUIRE(decoder.state == encoder.state);
  // In each of 6 layers a cross-attention's query for 200 positions: its input, q, heads with their
  // normalizers and its norm; and the matrices that are put side by side, k and v twice.
  const double cross = 6 * (200.0 * (512 + 512 + 512 + 8 + 514) + 512.0 * (512 + 4 * 512));
  REQUIRE(both.batch - decoder.batch == Approx(17.0 / 16 * 4 * cross));
  REQUIRE(encoder.batch < decoder.batch);  // logits of 3 of 20 positions
  // A source that is there is not read.
  REQUIRE(training_memory(base_of(Family::decoder_only), without_padding({10, 30, 20})).batch ==
          decoder.batch);
}

TEST_CASE("family: deepnorm's scales of one stack alone are (2N)^(1/4) and (8N)^(-1/4)",
          "[numeric]") {
  for (const auto family : kAlone) {
    auto config = base_of(family);
    const auto stack = has_encoder(family) ? Stack::encoder : Stack::decoder;
    const auto scales = residual_scales(NormPlacement::deepnorm, stack, depth_of(config));
    REQUIRE(scales.trunk == Approx(1.8612097182041991));     // 12^(1/4)
    REQUIRE(scales.weights == Approx(0.37991784282579627));  // 48^(-1/4)
  }
}
