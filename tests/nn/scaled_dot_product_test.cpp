#include "transformer/nn/scaled_dot_product.h"

#include <cmath>

#include "tests/catch.h"
#include "tests/nn/gradients.h"

using namespace transformer;

namespace {

struct Inputs {
  torch::Tensor q, k, v;
};

Inputs random_inputs(int64_t kv_heads, int64_t d_k, int64_t d_v, int64_t k_time = 7,
                     int64_t q_time = 5) {
  const auto options = torch::dtype(torch::kDouble).requires_grad(true);
  return {torch::randn({3, 4, q_time, d_k}, options),
          torch::randn({3, kv_heads, k_time, d_k}, options),
          torch::randn({3, kv_heads, k_time, d_v}, options)};
}

// Sentence 0 sees everything, 1 a part, 2 nothing.
torch::Tensor padding() {
  auto allowed = torch::ones({3, 1, 1, 7}, torch::kBool);
  allowed[1].slice(2, 4).fill_(false);
  allowed[2].fill_(false);
  return allowed;
}

void require_paths_agree(const Inputs& in, const Mask& mask) {
  const auto fast = scaled_dot_product(in.q, in.k, in.v, mask);
  const auto plain = scaled_dot_product_with_weights(in.q, in.k, in.v, mask).values;
  REQUIRE(torch::allclose(fast, plain, 1e-10, 1e-12));
  const auto direction = torch::randn_like(fast);
  const auto fast_gradients = torch::autograd::grad({fast}, {in.q, in.k, in.v}, {direction});
  const auto plain_gradients = torch::autograd::grad({plain}, {in.q, in.k, in.v}, {direction});
  for (size_t i = 0; i < 3; ++i) {
    REQUIRE(fast_gradients[i].isfinite().all().item<bool>());
    REQUIRE(torch::allclose(fast_gradients[i], plain_gradients[i], 1e-9, 1e-11));
  }
}

}  // namespace

TEST_CASE("attention: scores 0 and ln 3 with values (2, 0) and (0, 4) give (0.5, 3)", "[numeric]") {
  // Weights are 1/4 and 3/4. d_k = 4, so that a dot product of 2 ln 3 is a score of ln 3.
  const auto q = torch::tensor({2.0, 0.0, 0.0, 0.0}).view({1, 1, 1, 4});
  const auto k =
      torch::tensor({0.0, 1.0, 1.0, 1.0, std::log(3.0), 0.0, 5.0, 0.0}).view({1, 1, 2, 4});
  const auto v = torch::tensor({2.0, 0.0, 0.0, 4.0}).view({1, 1, 2, 2});
  const auto want = torch::tensor({0.5, 3.0}).view({1, 1, 1, 2});
  REQUIRE(torch::allclose(scaled_dot_product(q, k, v, {}), want));
  const auto plain = scaled_dot_product_with_weights(q, k, v, {});
  REQUIRE(torch::allclose(plain.values, want));
  REQUIRE(torch::allclose(plain.weights, torch::tensor({0.25, 0.75}).view({1, 1, 1, 2})));
}

TEST_CASE("attention: the fast and the plain path agree in values and gradients", "[numeric]") {
  torch::manual_seed(1);
  for (const int64_t kv_heads : {4, 2, 1}) {
    for (const auto& [d_k, d_v] : {std::pair<int64_t, int64_t>{6, 6}, {2, 9}, {8, 3}}) {
      require_paths_agree(random_inputs(kv_heads, d_k, d_v), {});
      require_paths_agree(random_inputs(kv_heads, d_k, d_v), {padding()});
      require_paths_agree(random_inputs(kv_heads, d_k, d_v, 7, 7), {.causal = true});
      require_paths_agree(random_inputs(kv_heads, d_k, d_v, 7, 7), {padding(), true});
    }
  }
}

TEST_CASE("attention: a query that may look at nothing gives zeros and no NaN gradient",
          "[numeric]") {
  torch::manual_seed(2);
  for (const int64_t d_v : {6, 3}) {
    const auto in = random_inputs(4, 6, d_v);
    const auto plain = scaled_dot_product_with_weights(in.q, in.k, in.v, {padding()});
    REQUIRE(plain.weights[2].count_nonzero().item<int64_t>() == 0);
    REQUIRE(torch::allclose(plain.weights[1].sum(-1), torch::ones({4, 5}, torch::kDouble)));
    for (const auto& values : {plain.values, scaled_dot_product(in.q, in.k, in.v, {padding()})}) {
      REQUIRE(values[2].count_nonzero().item<int64_t>() == 0);
      for (const auto& gradient : torch::autograd::grad({values.sum()}, {in.q, in.k, in.v})) {
        REQUIRE(gradient.isfinite().all().item<bool>());
        REQUIRE(gradient[2].count_nonzero().item<int64_t>() == 0);
      }
    }
  }
}

TEST_CASE("attention: gradients equal finite differences", "[numeric]") {
  torch::manual_seed(3);
  for (const int64_t d_v : {6, 3}) {  // the fused kernel and PyTorch's composed one
    const auto in = random_inputs(2, 6, d_v, 3, 2);
    const auto allowed =
        torch::tensor({1, 1, 0, 1, 1, 1, 0, 0, 0}, torch::kBool).view({3, 1, 1, 3});
    const auto f = [&] { return scaled_dot_product(in.q, in.k, in.v, {allowed}).square().sum(); };
    for (const auto& x : {in.q, in.k, in.v}) require_gradient(f, x);
  }
}

TEST_CASE("attention: grouped queries equal keys and values repeated for each", "[numeric]") {
  torch::manual_seed(4);
  const auto in = random_inputs(2, 6, 6);
  const auto repeated = [](const torch::Tensor& x) {  // heads 0 0 1 1
    return torch::stack({x.select(1, 0), x.select(1, 0), x.select(1, 1), x.select(1, 1)}, 1);
  };
  REQUIRE(torch::allclose(scaled_dot_product(in.q, in.k, in.v, {padding()}),
                          scaled_dot_product(in.q, repeated(in.k), repeated(in.v), {padding()}),
                          1e-10, 1e-12));
}

TEST_CASE("attention: dropout on the weights keeps their mean", "[numeric]") {
  torch::manual_seed(5);
  const auto q = torch::zeros({1, 1, 1, 2});
  const auto k = torch::zeros({1, 1, 20000, 2});
  const auto v = torch::ones({1, 1, 20000, 3});
  const auto dropped = scaled_dot_product_with_weights(q, k, v, {}, 0.25);
  REQUIRE(dropped.values.view(-1)[0].item<double>() == Approx(1.0).margin(0.02));
  REQUIRE(dropped.values.view(-1)[0].item<double>() != 1.0);
  REQUIRE(torch::allclose(dropped.weights.sum(), torch::ones({})));
}

TEST_CASE("attention: wrong shapes and masks are refused by name", "[numeric]") {
  using Catch::Matchers::Contains;
  const auto x = torch::zeros({3, 4, 5, 6});
  REQUIRE_THROWS_WITH(
      scaled_dot_product(x, torch::zeros({3, 4, 7, 5}), x, {}),
      Contains("attention k: expected shape [3, -1, -1, 6] (-1: any), got [3, 4, 7, 5]"));
  REQUIRE_THROWS_WITH(
      scaled_dot_product(x, torch::zeros({3, 3, 5, 6}), torch::zeros({3, 3, 5, 6}), {}),
      Contains("3 key heads do not divide 4"));
  REQUIRE_THROWS_WITH(scaled_dot_product(x, x, x, {torch::zeros({5, 5})}),
                      Contains("expected bool"));
}
