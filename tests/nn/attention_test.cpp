#include "transformer/nn/attention.h"

#include "tests/catch.h"
#include "tests/nn/configs.h"
#include "tests/nn/gradients.h"

using namespace transformer;

TEST_CASE("multi-head attention: free h, d_k, d_v and kv_heads give these shapes", "[numeric]") {
  auto config = small_model();  // d_model 12, h 4, d_k 5, d_v 3
  config.kv_heads = 2;
  config.attention_bias = true;
  MultiHeadAttention attention(config);
  const auto parameters = attention->named_parameters();
  REQUIRE(parameters["q.weight"].sizes() == torch::IntArrayRef({20, 12}));
  REQUIRE(parameters["k.weight"].sizes() == torch::IntArrayRef({10, 12}));
  REQUIRE(parameters["v.weight"].sizes() == torch::IntArrayRef({6, 12}));
  REQUIRE(parameters["o.weight"].sizes() == torch::IntArrayRef({12, 12}));
  REQUIRE(parameters["k.bias"].sizes() == torch::IntArrayRef({10}));
  REQUIRE(parameters.size() == 8);

  const auto query = torch::randn({2, 6, 12});
  const auto memory = torch::randn({2, 7, 12});
  REQUIRE(attention(query, memory).sizes() == torch::IntArrayRef({2, 6, 12}));
  REQUIRE(attention->forward_with_weights(query, memory).weights.sizes() ==
          torch::IntArrayRef({2, 4, 6, 7}));
  REQUIRE_THROWS_WITH(attention(torch::zeros({2, 6, 7}), memory),
                      Catch::Matchers::Contains(
                          "attention query: expected shape [-1, -1, 12] (-1: any), got [2, 6, 7]"));
}

TEST_CASE("multi-head attention: heads are blocks of rows, computed one by one", "[numeric]") {
  torch::manual_seed(1);
  MultiHeadAttention attention(small_model());
  const auto parameters = attention->named_parameters();
  REQUIRE(parameters.size() == 4);  // no bias unless the config says so
  const auto query = torch::randn({1, 6, 12});
  const auto memory = torch::randn({1, 7, 12});
  auto want = torch::zeros({6, 12});
  for (int64_t head = 0; head < 4; ++head) {
    const auto rows = [&](const char* name, int64_t width) {
      return parameters[name].narrow(0, head * width, width);
    };
    const auto q = query[0].matmul(rows("q.weight", 5).t());
    const auto k = memory[0].matmul(rows("k.weight", 5).t());
    const auto v = memory[0].matmul(rows("v.weight", 3).t());
    const auto weights = (q.matmul(k.t()) / std::sqrt(5.0)).softmax(-1);
    want = want + weights.matmul(v).matmul(parameters["o.weight"].narrow(1, head * 3, 3).t());
  }
  REQUIRE(torch::allclose(attention(query, memory)[0], want, 1e-4, 1e-5));
}

TEST_CASE("multi-head attention: with and without weights agree, dropout included", "[numeric]") {
  auto config = small_model();
  config.attention_drop = 0.4;
  MultiHeadAttention attention(config);
  const auto x = torch::randn({2, 6, 12});
  const Mask mask{.causal = true};
  torch::manual_seed(7);
  const auto trained = attention(x, x, mask);
  torch::manual_seed(7);
  REQUIRE(attention->forward_with_weights(x, x, mask).output.equal(trained));
  attention->eval();
  const auto evaluated = attention(x, x, mask);
  REQUIRE(
      torch::allclose(attention->forward_with_weights(x, x, mask).output, evaluated, 1e-4, 1e-6));
  REQUIRE_FALSE(torch::allclose(evaluated, trained));
}

TEST_CASE("multi-head attention: gradients equal finite differences", "[numeric]") {
  torch::manual_seed(2);
  auto config = small_model();
  config.kv_heads = 2;
  MultiHeadAttention attention(config);
  attention->to(torch::kDouble);
  const auto memory = torch::randn({2, 4, 12}, torch::kDouble);
  auto query = torch::randn({2, 3, 12}, torch::dtype(torch::kDouble).requires_grad(true));
  const auto f = [&] { return attention(query, memory).square().sum(); };
  require_gradient(f, query);
  require_gradient(f, attention->named_parameters()["k.weight"]);
}
