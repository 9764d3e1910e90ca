#include "transformer/analysis/mask_weights.h"

#include "tests/catch.h"

using namespace transformer;

TEST_CASE("mask weights: what causality and padding leave of the softmax, by hand", "[numeric]") {
  const auto ids = torch::tensor({{5, 6, 7}, {8, 0, 0}, {0, 0, 0}});
  const double third = 1.0 / 3;
  const auto padding = torch::tensor({{{third, third, third}, {third, third, third}},
                                      {{1.0, 0.0, 0.0}, {1.0, 0.0, 0.0}},
                                      {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}}});
  REQUIRE(torch::allclose(mask_weights({padding_mask(ids)}, 3, 2, 3).to(torch::kDouble),
                          padding.to(torch::kDouble), 1e-6, 1e-7));
  const auto both = torch::tensor({{{1.0, 0.0, 0.0}, {0.5, 0.5, 0.0}, {third, third, third}},
                                   {{1.0, 0.0, 0.0}, {1.0, 0.0, 0.0}, {1.0, 0.0, 0.0}},
                                   {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}}});
  const Mask mask{.allowed = padding_mask(ids), .causal = true};
  REQUIRE(torch::allclose(mask_weights(mask, 3, 3, 3).to(torch::kDouble), both.to(torch::kDouble),
                          1e-6, 1e-7));
  REQUIRE(mask_weights({}, 1, 2, 4).eq(0.25).all().item<bool>());
}
