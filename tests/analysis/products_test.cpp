#include "transformer/analysis/products.h"

#include "tests/catch.h"
#include "transformer/analysis/flops.h"

using namespace transformer;

TEST_CASE("products: with those inside sentences they are all of training's operations") {
  Config config;
  config.model.N = 2;
  config.model.d_model = 10;
  config.model.d_ff = 14;
  config.model.h = 4;
  config.model.kv_heads = 2;
  config.model.d_k = 5;
  config.model.d_v = 3;
  config.model.V = 11;
  const auto model = resolve(config).model;
  const BatchShape batch{3, 6, 7};
  double flops = 0;
  for (const auto& product : training_products(model, 3 * 6, 3 * 7)) flops += product.flops();
  // Q K^T and weights · V of each sentence: encoder, decoder, decoder on encoder; three times each.
  const double pairs = 6.0 * 6 + 7.0 * 7 + 7.0 * 6;
  const double within = 3 * 2 * 3 * pairs * 2 * (4 * 5 + 4 * 3);
  REQUIRE(flops + within == training_flops(model, batch));
}

TEST_CASE("products: a linear layer's three have the same operations") {
  Config config;
  config.model.V = 37000;
  const auto products = training_products(resolve(config).model, 100, 200);
  REQUIRE(products.size() % 3 == 0);
  for (size_t i = 0; i < products.size(); i += 3) {
    REQUIRE(products[i].layout == Product::Layout::forward);
    REQUIRE(products[i + 1].layout == Product::Layout::by_input);
    REQUIRE(products[i + 2].layout == Product::Layout::by_weight);
    REQUIRE(products[i].flops() == products[i + 1].flops());
    REQUIRE(products[i].flops() == products[i + 2].flops());
  }
}
