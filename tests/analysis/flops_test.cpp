#include "transformer/analysis/flops.h"

#include "tests/catch.h"

using namespace transformer;

namespace {

ModelConfig tiny(int64_t d_k, int64_t d_v) {
  Config config;
  config.model.N = 1;
  config.model.d_model = 2;
  config.model.d_ff = 5;
  config.model.h = 1;
  config.model.d_k = d_k;
  config.model.d_v = d_v;
  config.model.P_drop = 0.0;
  config.model.V = 6;
  return resolve(config).model;
}

}  // namespace

TEST_CASE("flops: by hand, for 2 source and 3 target positions") {
  // q, k, v, o, Q K^T, weights · V of each attention; then the two products of the feed-forward
  // layer
  const double encoder = (24 + 24 + 32 + 32 + 24 + 32) + (40 + 40);
  const double self_attention = 36 + 36 + 48 + 48 + 54 + 72;
  const double cross_attention = 36 + 24 + 32 + 48 + 36 + 48;
  const double decoder = self_attention + cross_attention + (60 + 60);
  const double logits = 2 * 3 * 2 * 6;
  const auto model = tiny(3, 4);
  REQUIRE(forward_flops(model, {1, 2, 3}) == encoder + decoder + logits);
  REQUIRE(training_flops(model, {1, 2, 3}) == 3 * (encoder + decoder + logits));
  REQUIRE(forward_flops(model, {7, 2, 3}) == 7 * (encoder + decoder + logits));
}

TEST_CASE("flops: shared key heads save projections and nothing else") {
  Config config;
  config.model.V = 37000;
  const auto full = resolve(config).model;
  config.model.kv_heads = 2;
  const auto grouped = resolve(config).model;
  // Six heads fewer of k and v, 64 wide, in 18 attentions over 10 positions each.
  REQUIRE(forward_flops(full, {1, 10, 10}) - forward_flops(grouped, {1, 10, 10}) ==
          18 * 2.0 * 10 * 512 * (6 * 64 * 2));
}

TEST_CASE("flops: a gated feed-forward layer has a third product") {
  auto model = tiny(3, 4);
  const double plain = forward_flops(model, {1, 2, 3});
  model.feed_forward = FeedForwardKind::swiglu;  // d_ff 5, for 2 and 3 positions
  REQUIRE(forward_flops(model, {1, 2, 3}) == plain + 40 + 60);
  REQUIRE(step_flops(model, 1, 0, 1) == step_flops(tiny(3, 4), 1, 0, 1) + 20);
  model.feed_forward_width = FeedForwardWidth::matched;  // 3 for 5
  REQUIRE(forward_flops(model, {1, 2, 3}) == plain - 2 * (40 + 60) + 3 * (24 + 36));
}
