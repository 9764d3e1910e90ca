#include "transformer/nn/positions.h"

#include <cmath>

#include "tests/catch.h"
#include "tests/nn/configs.h"
#include "transformer/error.h"

using namespace transformer;

namespace {

constexpr auto kBothLayouts = {PositionKind::sinusoidal, PositionKind::sinusoidal_concatenated};

}  // namespace

TEST_CASE("positions: sine in the even columns, cosine in the odd ones", "[numeric]") {
  const auto table = sinusoid_table(PositionKind::sinusoidal, 9, 6);
  REQUIRE(table.sizes() == torch::IntArrayRef({9, 6}));
  for (int64_t position = 0; position < 9; ++position) {
    for (int64_t i = 0; i < 3; ++i) {
      const double angle =
          static_cast<double>(position) / std::pow(10000.0, 2.0 * static_cast<double>(i) / 6.0);
      REQUIRE(table[position][2 * i].item<double>() == Approx(std::sin(angle)).margin(1e-12));
      REQUIRE(table[position][2 * i + 1].item<double>() == Approx(std::cos(angle)).margin(1e-12));
    }
  }
}

TEST_CASE("positions: the concatenated layout has the same columns in another order", "[numeric]") {
  const auto interleaved = sinusoid_table(PositionKind::sinusoidal, 9, 6);
  const auto concatenated = sinusoid_table(PositionKind::sinusoidal_concatenated, 9, 6);
  REQUIRE(concatenated.equal(interleaved.index_select(1, torch::tensor({0, 2, 4, 1, 3, 5}))));
}

TEST_CASE("positions: PE . PE' depends on the distance alone, and every norm is sqrt(d / 2)",
          "[numeric]") {
  for (const auto kind : kBothLayouts) {
    const auto table = sinusoid_table(kind, 50, 32);
    const auto products = table.matmul(table.t());
    for (int64_t distance = 0; distance < 50; ++distance) {
      const auto diagonal = products.diagonal(distance);
      // sum over i of cos(distance / 10000^(2i / d))
      double want = 0;
      for (int64_t i = 0; i < 16; ++i) {
        want += std::cos(static_cast<double>(distance) /
                         std::pow(10000.0, 2.0 * static_cast<double>(i) / 32.0));
      }
      REQUIRE(torch::allclose(diagonal, torch::full_like(diagonal, want), 1e-10, 1e-10));
    }
    REQUIRE(torch::allclose(table.norm(2, 1), torch::full({50}, 4.0, torch::kDouble)));
  }
}

TEST_CASE("positions: what is added depends on the position alone, and the table grows",
          "[numeric]") {
  for (const auto kind : kBothLayouts) {
    auto config = small_model();
    config.positions = kind;
    Positions positions(config);
    REQUIRE(positions->parameters().empty());
    const auto table = sinusoid_table(kind, 1000, 12);
    const auto x = torch::randn({2, 700, 12}, torch::kDouble);
    REQUIRE(
        torch::allclose(positions(x.narrow(1, 0, 3)), x.narrow(1, 0, 3) + table.narrow(0, 0, 3)));
    REQUIRE(torch::allclose(positions(x, 300), x + table.narrow(0, 300, 700)));
    const auto single = positions(x.to(torch::kFloat));
    REQUIRE(single.scalar_type() == torch::kFloat);
    REQUIRE(torch::allclose(single, (x + table.narrow(0, 0, 700)).to(torch::kFloat), 1e-5, 1e-6));
  }
}

TEST_CASE("positions: learned ones are rows of their table and end where it ends", "[numeric]") {
  auto config = small_model();
  config.positions = PositionKind::learned;
  Positions positions(config);
  auto weight = positions->named_parameters()["weight"];
  REQUIRE(weight.sizes() == torch::IntArrayRef({30, 12}));
  {
    const torch::NoGradGuard no_grad;
    weight.normal_();
  }
  const auto x = torch::randn({2, 4, 12});
  REQUIRE(positions(x, 26).equal(x + weight.narrow(0, 26, 4)));
  REQUIRE_THROWS_AS(positions(x, 27), UserError);
  REQUIRE_THROWS_WITH(
      positions(x, 27),
      Catch::Matchers::Contains("model.max_positions: a sentence of 31 word-pieces does "
                                "not fit into 30 learned positions"));
}

TEST_CASE("positions: none adds nothing", "[numeric]") {
  auto config = small_model();
  config.positions = PositionKind::none;
  const auto x = torch::randn({2, 4, 12});
  REQUIRE(Positions(config)(x).equal(x));
}
