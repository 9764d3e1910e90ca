#include "transformer/nn/masks.h"

#include "tests/catch.h"

using namespace transformer;

TEST_CASE("masks: padding may not be looked at, and nothing looks ahead", "[numeric]") {
  const auto ids = torch::tensor({{7, 3, 0}, {5, 6, 3}});
  const auto padding = padding_mask(ids);
  REQUIRE(padding.equal(
      torch::tensor({true, true, false, true, true, true}, torch::kBool).view({2, 1, 1, 3})));
  const auto causal = causal_mask(3, torch::kCPU);
  REQUIRE(causal.equal(torch::tensor({1, 0, 0, 1, 1, 0, 1, 1, 1}, torch::kBool).view({3, 3})));
  REQUIRE(Mask{.causal = true}.combined(3, torch::kCPU)->equal(causal));
  REQUIRE_FALSE(Mask{}.combined(3, torch::kCPU).has_value());

  const auto both = *Mask{padding, true}.combined(3, torch::kCPU);
  REQUIRE(both.sizes() == torch::IntArrayRef({2, 1, 3, 3}));
  REQUIRE(both[0][0].equal(torch::tensor({1, 0, 0, 1, 1, 0, 1, 1, 0}, torch::kBool).view({3, 3})));
}
