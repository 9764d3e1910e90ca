#include "transformer/analysis/scaling.h"

#include "tests/catch.h"

using namespace transformer;

namespace {

ModelConfig base_model() {
  Config config;  // the paper's base model
  config.model.V = 37000;
  return resolve(config).model;
}

}  // namespace

TEST_CASE("scaling: a ring of n sends 2 (n - 1) / n of what is summed, in 2 (n - 1) messages") {
  REQUIRE(ring_bytes(800, 1) == 0);
  REQUIRE(ring_bytes(800, 2) == 800);
  REQUIRE(ring_bytes(800, 8) == 1400);
  const Cluster cluster{.flops_per_second = 1, .bandwidth = 100, .latency = 0.5};
  REQUIRE(ring_seconds(800, 8, cluster) == Approx(1400 / 100.0 + 14 * 0.5));
}

TEST_CASE(
    "scaling: the embeddings' all-reduce is never covered, the rest as far as computing lasts") {
  const auto model = base_model();
  const double embedding = 4.0 * 37000 * 512;
  const Cluster quick{.flops_per_second = 1e13, .bandwidth = 1e11, .latency = 0};
  const auto covered = scaled_step(model, 3000, 8, quick);
  REQUIRE(covered.gradient_bytes == 4.0 * (6 * (3'150'336 + 4'199'936) + 37000 * 512));
  REQUIRE(covered.uncovered_seconds == Approx(ring_bytes(embedding, 8) / 1e11));
  REQUIRE(covered.seconds() == covered.compute_seconds + covered.uncovered_seconds);
  const Cluster slow{.flops_per_second = 1e13, .bandwidth = 1e8, .latency = 0};
  const auto bare = scaled_step(model, 3000, 8, slow);
  REQUIRE(bare.compute_seconds == covered.compute_seconds);
  REQUIRE(bare.reduce_seconds == Approx(ring_bytes(covered.gradient_bytes, 8) / 1e8));
  REQUIRE(bare.uncovered_seconds == Approx(bare.reduce_seconds - 2.0 / 3 * bare.compute_seconds));
}

TEST_CASE("scaling: one device sums with nobody") {
  const auto alone =
      scaled_step(base_model(), 3000, 1, {.flops_per_second = 1e13, .bandwidth = 1, .latency = 1});
  REQUIRE(alone.uncovered_seconds == 0);
}
