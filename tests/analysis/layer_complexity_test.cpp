#include "transformer/analysis/layer_complexity.h"

#include "tests/catch.h"

using namespace transformer;

namespace {

constexpr auto kOthers = {LayerType::recurrent, LayerType::convolutional,
                          LayerType::separable_convolutional, LayerType::restricted_self_attention};

}  // namespace

TEST_CASE("complexity: Table 1 at n = 70, d = 512") {
  const LayerSizes sizes{.n = 70, .d = 512, .k = 3, .r = 10};
  const auto of = [&](LayerType type) { return layer_complexity(type, sizes); };
  REQUIRE(of(LayerType::self_attention).operations == 2508800);
  REQUIRE(of(LayerType::recurrent).operations == 18350080);
  REQUIRE(of(LayerType::convolutional).operations == 55050240);
  REQUIRE(of(LayerType::separable_convolutional).operations == 107520 + 18350080);
  REQUIRE(of(LayerType::restricted_self_attention).operations == 358400);
  REQUIRE(of(LayerType::recurrent).operations / of(LayerType::self_attention).operations ==
          Approx(7.31).margin(0.01));
  REQUIRE(of(LayerType::recurrent).sequential == 70);
  REQUIRE(of(LayerType::recurrent).path == 70);
  REQUIRE(of(LayerType::self_attention).path == 1);
  REQUIRE(of(LayerType::restricted_self_attention).path == 7);
  for (const auto type : kOthers) {
    if (type != LayerType::recurrent) REQUIRE(of(type).sequential == 1);
  }
}

TEST_CASE("complexity: at the crossing point both cost the same; self-attention less before it") {
  LayerSizes sizes{.n = 70, .d = 48, .k = 5, .r = 12};
  for (const auto type : kOthers) {
    sizes.n = static_cast<int64_t>(*layer_complexity(type, sizes).crossing);
    const auto difference = [&](int64_t n) {
      auto changed = sizes;
      changed.n = n;
      return layer_complexity(type, changed).operations -
             layer_complexity(LayerType::self_attention, changed).operations;
    };
    REQUIRE(difference(sizes.n) == 0);
    REQUIRE(difference(sizes.n - 1) > 0);
    REQUIRE(difference(sizes.n + 1) < 0);
  }
}

TEST_CASE("complexity: a stack of dilated convolutions reaches k times as far a layer") {
  for (const int64_t k : {2, 3, 7}) {
    int64_t reached = 1, layers = 0;
    while (layers < 5) {
      reached *= k;
      ++layers;
      const LayerSizes sizes{.n = reached, .d = 8, .k = k, .r = 2};
      REQUIRE(layer_complexity(LayerType::convolutional, sizes).path ==
              Approx(static_cast<double>(layers)));
    }
  }
}
