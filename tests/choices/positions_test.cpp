#include "transformer/choices/positions.h"

#include <torch/torch.h>

#include <cmath>
#include <complex>

#include "tests/catch.h"
#include "tests/nn/configs.h"
#include "transformer/nn/attention.h"

using namespace transformer;

namespace {

ModelConfig with_positions(PositionKind positions) {
  auto config = small_model();  // h 4
  config.d_k = 6;
  config.kv_heads = 2;
  config.positions = positions;
  return config;
}

// A vector of width 6 at a position, turned pair by pair as complex numbers.
std::vector<double> turned_by_hand(const double* x, double position) {
  std::vector<double> out;
  for (int i = 0; i < 3; ++i) {
    const double angle = position / std::pow(10000.0, 2.0 * i / 6.0);
    const auto point = std::complex<double>(x[2 * i], x[2 * i + 1]) * std::polar(1.0, angle);
    out.push_back(point.real());
    out.push_back(point.imag());
  }
  return out;
}

// [batch, time, d_model] -> [batch, time, d_model], head by head and score by score.
torch::Tensor attention_by_hand(MultiHeadAttention& attention, PositionKind positions,
                                const torch::Tensor& x, const Mask& mask) {
  const auto parameters = attention->named_parameters();
  const double slopes[] = {1.0 / 4, 1.0 / 16, 1.0 / 64, 1.0 / 256};
  const int64_t time = x.size(1);
  auto out = torch::zeros_like(x);
  for (int64_t b = 0; b < x.size(0); ++b) {
    for (int64_t head = 0; head < 4; ++head) {
      const auto project = [&](const char* name, int64_t index, int64_t width) {
        const auto rows = parameters[name].narrow(0, index * width, width);
        auto y = x[b].matmul(rows.t()).contiguous();
        if (positions != PositionKind::rope || width != 6) return y;
        for (int64_t i = 0; i < time; ++i) {
          const auto turned =
              turned_by_hand(y.const_data_ptr<double>() + 6 * i, static_cast<double>(i));
          y[i].copy_(torch::tensor(turned, torch::kDouble));
        }
        return y;
      };
      const auto q = project("q.weight", head, 6);
      const auto k = project("k.weight", head / 2, 6);
      const auto v = project("v.weight", head / 2, 3);
      auto scores = q.matmul(k.t()) / std::sqrt(6.0);
      for (int64_t i = 0; i < time; ++i) {
        for (int64_t j = 0; j < time; ++j) {
          if (positions == PositionKind::alibi) {
            scores[i][j] -= slopes[head] * static_cast<double>(std::abs(i - j));
          }
          const bool is_padding = mask.allowed && !(*mask.allowed)[b][0][0][j].item<bool>();
          if (is_padding || (mask.causal && j > i)) scores[i][j] = -1e30;
        }
      }
      out[b] +=
          scores.softmax(-1).matmul(v).matmul(parameters["o.weight"].narrow(1, head * 3, 3).t());
    }
  }
  return out;
}

}  // namespace

TEST_CASE("positions: within self-attention they are their formula", "[numeric]") {
  torch::manual_seed(1);
  const torch::NoGradGuard no_gradient;
  const auto padding = padding_mask(torch::tensor({{1, 1, 1, 1, 1}, {1, 1, 1, 0, 0}}));
  for (const auto kind : {PositionKind::rope, PositionKind::alibi, PositionKind::none}) {
    MultiHeadAttention attention(with_positions(kind));
    attention->to(torch::kDouble);
    const auto x = torch::randn({2, 5, 12}, torch::kDouble);
    for (const bool causal : {false, true}) {
      INFO(name_of(kind) << " " << causal);
      const Mask mask{.allowed = padding, .causal = causal};
      const auto want = attention_by_hand(attention, kind, x, mask);
      REQUIRE(torch::allclose(attention(x, x, mask), want, 1e-9, 1e-10));
      REQUIRE(
          torch::allclose(attention->forward_with_weights(x, x, mask).output, want, 1e-9, 1e-10));
    }
  }
}

TEST_CASE("positions: between two sequences none of them acts", "[numeric]") {
  const auto query = torch::randn({2, 5, 12});
  const auto memory = torch::randn({2, 7, 12});
  const auto run = [&](PositionKind kind) {
    torch::manual_seed(2);
    MultiHeadAttention attention(with_positions(kind), AttentionKind::cross);
    return attention(query, memory);
  };
  const auto want = run(PositionKind::none);
  REQUIRE(run(PositionKind::rope).equal(want));
  REQUIRE(run(PositionKind::alibi).equal(want));
}

TEST_CASE("positions: a query that may look at nothing gives zeros under a bias too", "[numeric]") {
  torch::manual_seed(3);
  for (const int64_t d_v : {3, 6}) {  // the fused kernel is taken where d_k = d_v
    auto config = with_positions(PositionKind::alibi);
    config.d_v = d_v;
    config.kv_heads = 4;
    MultiHeadAttention attention(config);
    const auto x = torch::randn({1, 5, 12}, torch::requires_grad());
    const auto y = attention(x, x, Mask{padding_mask(torch::zeros({1, 5}, torch::kLong))});
    REQUIRE(y.abs().max().item<double>() == 0);
    y.sum().backward();
    REQUIRE(x.grad().isfinite().all().item<bool>());
  }
}

TEST_CASE("positions: turned products depend on the distance alone", "[numeric]") {
  AttentionPositions positions(with_positions(PositionKind::rope));
  const auto q = torch::randn({1, 1, 1, 6}, torch::kDouble);
  const auto k = torch::randn({1, 1, 1, 6}, torch::kDouble);
  const auto product = [&](int64_t i, int64_t j) {
    return (positions.turn(q, i) * positions.turn(k, j)).sum().item<double>();
  };
  for (const int64_t shift : {1, 17, 400}) {  // the table of angles grows
    REQUIRE(product(3 + shift, 1 + shift) == Approx(product(3, 1)));
  }
  REQUIRE(product(3, 1) != Approx(product(1, 3)));
  REQUIRE(torch::allclose(positions.turn(q, 0), q));
}

TEST_CASE("positions: without padding every sentence begins at 0", "[numeric]") {
  AttentionPositions positions(with_positions(PositionKind::rope));
  const auto x = torch::randn({7, 4, 6}, torch::kDouble);  // [tokens, heads, d_k]
  const auto got = positions.turn_packed(x, {0, 3, 7});
  for (const auto& [first, length] : {std::pair{0, 3}, {3, 4}}) {
    const auto alone = x.narrow(0, first, length).transpose(0, 1).unsqueeze(0);
    const auto want = positions.turn(alone, 0).squeeze(0).transpose(0, 1);
    REQUIRE(torch::allclose(got.narrow(0, first, length), want));
  }
}

TEST_CASE("positions: slopes are powers of two, also where the heads are not") {
  const auto check = [](const std::vector<double>& exponents) {
    const auto h = static_cast<int64_t>(exponents.size());
    for (int64_t head = 0; head < h; ++head) {
      REQUIRE(distance_slope(head, h) == Approx(std::exp2(-exponents[static_cast<size_t>(head)])));
    }
  };
  check({8});
  check({1, 2, 3, 4, 5, 6, 7, 8});
  check({0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5, 5, 5.5, 6, 6.5, 7, 7.5, 8});
  check({2, 4, 6, 8, 1, 3});
  check({1, 2, 3, 4, 5, 6, 7, 8, 0.5, 1.5, 2.5, 3.5});
}
