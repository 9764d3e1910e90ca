#include "transformer/analysis/position_products.h"

#include <cmath>

#include "tests/catch.h"
#include "transformer/nn/positions.h"

using namespace transformer;

TEST_CASE("positions: products of sinusoids depend on the distance alone, by the closed form",
          "[numeric]") {
  for (const auto kind : {PositionKind::sinusoidal, PositionKind::sinusoidal_concatenated}) {
    const auto products = position_products(sinusoid_table(kind, 40, 512));
    REQUIRE(products.size() == 40);
    for (int distance = 0; distance < 40; ++distance) {
      double want = 0;
      for (int i = 0; i < 256; ++i) want += std::cos(distance / std::pow(10000.0, i / 256.0));
      const auto& got = products[static_cast<size_t>(distance)];
      REQUIRE(got.least == Approx(want).margin(1e-8));
      REQUIRE(got.mean == Approx(want).margin(1e-8));
      REQUIRE(got.most == Approx(want).margin(1e-8));
    }
    REQUIRE(std::sqrt(products[0].mean) == Approx(16));
  }
}

TEST_CASE("positions: products of any table, by hand", "[numeric]") {
  const auto products = position_products(torch::tensor({{1.0, 2.0}, {3.0, -1.0}, {0.0, 4.0}}));
  REQUIRE(products[0].least == 5);
  REQUIRE(products[0].most == 16);
  REQUIRE(products[0].mean == Approx((5 + 10 + 16) / 3.0));
  REQUIRE(products[1].least == -4);
  REQUIRE(products[1].most == 1);
  REQUIRE(products[2].mean == 8);
}
