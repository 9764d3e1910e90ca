#include <torch/torch.h>

#include <cmath>
#include <numeric>

#include "tests/catch.h"
#include "transformer/nn/kernels/dropout_kernels.h"
#include "transformer/nn/kernels/embedding_kernel.h"
#include "transformer/nn/kernels/exponential.h"
#include "transformer/nn/kernels/packed_attention.h"
#include "transformer/nn/kernels/relu_feed_forward.h"
#include "transformer/nn/kernels/smoothed_softmax.h"
#include "transformer/nn/scaled_dot_product.h"

using namespace transformer;

namespace {

torch::Tensor leaf(torch::IntArrayRef sizes) { return torch::randn(sizes).requires_grad_(); }

// A leaf of its own in double, of the same values.
torch::Tensor in_double(const torch::Tensor& x) {
  return x.detach().to(torch::kDouble).requires_grad_();
}

void require_close(const torch::Tensor& got, const torch::Tensor& want) {
  REQUIRE(got.sizes() == want.sizes());
  REQUIRE((got.to(torch::kDouble) - want).abs().max().item<double>() <
          2e-6 * (1 + want.abs().max().item<double>()));
}

// The mask that a dropout of this seed draws first.
torch::Tensor mask_of_seed(uint64_t seed, torch::IntArrayRef sizes, double p) {
  torch::manual_seed(seed);
  return masked(torch::ones(sizes), p).to(torch::kDouble);
}

// Attention of sentences one by one, by the plain formula.
torch::Tensor attention_oracle(const torch::Tensor& q, const torch::Tensor& k,
                               const torch::Tensor& v, const Starts& q_starts,
                               const Starts& k_starts, const HeadSizes& sizes, bool causal,
                               const std::vector<double>& slopes = {}) {
  const auto heads = [](const torch::Tensor& rows, int64_t first, int64_t end, int64_t h) {
    return rows.narrow(0, first, end - first).unflatten(1, {h, -1}).transpose(0, 1).unsqueeze(0);
  };
  std::vector<torch::Tensor> out;
  for (size_t i = 0; i + 1 < q_starts.size(); ++i) {
    Mask mask{.causal = causal};
    if (!slopes.empty()) {
      const auto places = torch::arange(q_starts[i + 1] - q_starts[i], torch::kDouble);
      mask.bias = -torch::tensor(slopes, torch::kDouble).view({-1, 1, 1}) *
                  (places.unsqueeze(1) - places).abs();
    }
    const auto values = scaled_dot_product_with_weights(
        heads(q, q_starts[i], q_starts[i + 1], sizes.h),
        heads(k, k_starts[i], k_starts[i + 1], sizes.kv_heads),
        heads(v, k_starts[i], k_starts[i + 1], sizes.kv_heads), mask);
    out.push_back(values.values.squeeze(0).transpose(0, 1).flatten(1));
  }
  return torch::cat(out);
}

}  // namespace

TEST_CASE("kernels: the exponential, against the library's in double", "[numeric][kernels]") {
  std::vector<float> x(16 * 4096);
  for (size_t i = 0; i < x.size(); ++i) x[i] = -87.0f + 175.0f * static_cast<float>(i) / x.size();
  auto y = x;
  vectorized([&]() __attribute__((always_inline)) {
    for (size_t i = 0; i < y.size(); i += kLanes) {
      Floats lanes;
      load(lanes, &y[i]);
      exponential(lanes);
      store(&y[i], lanes);
    }
  });
  double worst = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const double want = std::exp(static_cast<double>(x[i]));
    worst = std::max(worst, std::abs(y[i] - want) / want);
  }
  REQUIRE(worst < 1.2e-7);
}

TEST_CASE("kernels: packed attention equals the formula, values and gradients",
          "[numeric][kernels]") {
  torch::manual_seed(1);
  // Lengths around the sizes of a vector and of a block of queries.
  const Starts starts{0, 1, 8, 24, 41, 41 + 64, 41 + 64 + 131};
  const Starts others{0, 5, 6, 40, 57, 57 + 130, 57 + 130 + 64};
  for (const HeadSizes sizes : {HeadSizes{2, 2, 16, 16}, HeadSizes{4, 2, 5, 20},
                                HeadSizes{3, 1, 33, 7}, HeadSizes{1, 1, 4, 64}}) {
    const int64_t q_width = sizes.h * sizes.d_k;
    const int64_t k_width = sizes.kv_heads * sizes.d_k;
    const int64_t v_width = sizes.kv_heads * sizes.d_v;
    const auto weights = torch::randn({starts.back(), sizes.h * sizes.d_v});
    for (const bool causal : {false, true}) {
      const auto qkv = leaf({starts.back(), q_width + k_width + v_width});
      const auto exact = in_double(qkv);
      const auto got = packed_self_attention(qkv, starts, sizes, causal);
      const auto parts = exact.split_with_sizes({q_width, k_width, v_width}, 1);
      const auto want =
          attention_oracle(parts[0], parts[1], parts[2], starts, starts, sizes, causal);
      require_close(got, want);
      (got * weights).sum().backward();
      (want * weights.to(torch::kDouble)).sum().backward();
      require_close(qkv.grad(), exact.grad());
    }
    const auto q = leaf({starts.back(), q_width});
    const auto kv = leaf({others.back(), k_width + v_width});
    const auto exact_q = in_double(q);
    const auto exact_kv = in_double(kv);
    const auto got = packed_cross_attention(q, kv, starts, others, sizes);
    const auto parts = exact_kv.split_with_sizes({k_width, v_width}, 1);
    const auto want = attention_oracle(exact_q, parts[0], parts[1], starts, others, sizes, false);
    require_close(got, want);
    (got * weights).sum().backward();
    (want * weights.to(torch::kDouble)).sum().backward();
    require_close(q.grad(), exact_q.grad());
    require_close(kv.grad(), exact_kv.grad());
  }
}

TEST_CASE("kernels: packed attention whose scores fall with the distance equals the formula",
          "[numeric][kernels]") {
  torch::manual_seed(13);
  const Starts starts{0, 1, 18, 18 + 35, 18 + 35 + 81};
  const HeadSizes sizes{4, 2, 5, 20};
  const std::vector<double> slopes{0.5, 0.25, 0.125, 0};
  for (const bool causal : {false, true}) {
    const auto qkv = leaf({starts.back(), 20 + 10 + 40});
    const auto exact = in_double(qkv);
    const auto weights = torch::randn({starts.back(), 80});
    const auto got = packed_self_attention(qkv, starts, sizes, causal, slopes);
    const auto parts = exact.split_with_sizes({20, 10, 40}, 1);
    const auto want =
        attention_oracle(parts[0], parts[1], parts[2], starts, starts, sizes, causal, slopes);
    require_close(got, want);
    (got * weights).sum().backward();
    (want * weights.to(torch::kDouble)).sum().backward();
    require_close(qkv.grad(), exact.grad());
  }
}

TEST_CASE("kernels: a query without keys gives zeros", "[numeric][kernels]") {
  const HeadSizes sizes{2, 2, 4, 4};
  const auto q = leaf({3, 8});
  const auto kv = leaf({2, 16});
  const auto out = packed_cross_attention(q, kv, {0, 2, 3}, {0, 0, 2}, sizes);
  REQUIRE(out.narrow(0, 0, 2).abs().max().item<float>() == 0);
  REQUIRE(out[2].abs().max().item<float>() > 0);
  out.sum().backward();
  REQUIRE(q.grad().isfinite().all().item<bool>());
  REQUIRE(q.grad().narrow(0, 0, 2).abs().max().item<float>() == 0);
}

TEST_CASE("kernels: large scores stay finite", "[numeric][kernels]") {
  const HeadSizes sizes{1, 1, 2, 2};
  const auto qkv = torch::tensor(
      {{300.f, 300.f, 300.f, 300.f, 1.f, 2.f}, {300.f, 300.f, -300.f, -300.f, 3.f, 4.f}});
  const auto out = packed_self_attention(qkv, {0, 2}, sizes, false);
  require_close(out, torch::tensor({{1.0, 2.0}, {1.0, 2.0}}, torch::kDouble));
}

TEST_CASE("kernels: dropout keeps 1 - p and scales by its inverse, independently",
          "[numeric][kernels]") {
  const int64_t n = 1 << 20;
  for (const double p : {0.1, 0.3, 0.9}) {
    torch::manual_seed(5);
    const auto first = masked(torch::ones({n}), p);
    const auto second = masked(torch::ones({n}), p);
    const auto kept = first.gt(0).to(torch::kDouble);
    REQUIRE(first.masked_select(first.gt(0)).sub(1 / (1 - p)).abs().max().item<double>() < 1e-6);
    // Each is a mean of n draws: within 5 standard deviations.
    const double deviation = std::sqrt(p * (1 - p) / n);
    REQUIRE(std::abs(kept.mean().item<double>() - (1 - p)) < 5 * deviation);
    const auto correlation = [&](const torch::Tensor& a, const torch::Tensor& b) {
      return ((a - (1 - p)) * (b - (1 - p))).mean().item<double>() / (p * (1 - p));
    };
    for (const int64_t shift : {1, 2, 3, 16, 17, 64, 512, 4096}) {
      REQUIRE(std::abs(correlation(kept.narrow(0, 0, n - shift),
                                   kept.narrow(0, shift, n - shift))) < 5.5 / std::sqrt(n - shift));
    }
    REQUIRE(std::abs(correlation(kept, second.gt(0).to(torch::kDouble))) < 5.0 / std::sqrt(n));
    // Counts in rows of 64 are binomial, as far as their variance tells.
    const auto counts = kept.view({-1, 64}).sum(1);
    const double want = 64 * p * (1 - p);
    REQUIRE(counts.var().item<double>() / want ==
            Approx(1.0).margin(5 * std::sqrt(2.0 / (n / 64))));
  }
}

TEST_CASE("kernels: the backward pass of dropout has the forward pass's mask",
          "[numeric][kernels]") {
  torch::manual_seed(6);
  const auto x = leaf({37, 13});
  const auto y = leaf({37, 13});
  const auto alone = masked(x, 0.4);
  alone.sum().backward();
  require_close(alone, (x * x.grad()).detach().to(torch::kDouble));
  const auto added = add_masked(x.detach(), y, 0.4);
  added.sum().backward();
  require_close(added, (x + y * y.grad()).detach().to(torch::kDouble));
  REQUIRE(y.grad().eq(0).any().item<bool>());
}

TEST_CASE("kernels: dropout, sum and normalization equal the three one by one",
          "[numeric][kernels]") {
  for (const int64_t width : {4, 16, 45, 64}) {
    for (const double p : {0.0, 0.25}) {
      torch::manual_seed(7);
      const auto x = leaf({2, 33, width});
      const auto y = leaf({2, 33, width});
      const auto gain = leaf({width});
      const auto bias = leaf({width});
      const auto outer = torch::randn({2, 33, width});
      const auto mask =
          p > 0 ? mask_of_seed(8, {2, 33, width}, p) : torch::ones({2, 33, width}, torch::kDouble);
      torch::manual_seed(8);
      const auto got = normalized_sum(x, y, p, gain, bias, 1e-6);
      (got * outer).sum().backward();
      const auto dx = in_double(x), dy = in_double(y), dg = in_double(gain), db = in_double(bias);
      const auto want = torch::layer_norm(dx + dy * mask, {width}, dg, db, 1e-6);
      (want * outer.to(torch::kDouble)).sum().backward();
      require_close(got, want);
      require_close(x.grad(), dx.grad());
      require_close(y.grad(), dy.grad());
      require_close(gain.grad(), dg.grad());
      require_close(bias.grad(), db.grad());
    }
  }
}

TEST_CASE("kernels: dropout, sum and RMS normalization equal the three one by one",
          "[numeric][kernels]") {
  for (const int64_t width : {4, 45, 64}) {
    for (const double p : {0.0, 0.25}) {
      for (const bool has_y : {true, false}) {
        torch::manual_seed(14);
        const auto x = leaf({2, 33, width});
        const auto y = has_y ? std::optional(leaf({2, 33, width})) : std::nullopt;
        const auto gain = leaf({width});
        const auto outer = torch::randn({2, 33, width});
        const auto mask = p > 0 && has_y ? mask_of_seed(15, {2, 33, width}, p)
                                         : torch::ones({2, 33, width}, torch::kDouble);
        torch::manual_seed(15);
        const auto got = rms_normalized_sum(x, y, p, gain, 1e-6);
        (got * outer).sum().backward();
        const auto dx = in_double(x), dg = in_double(gain);
        const auto dy = in_double(has_y ? *y : torch::zeros_like(x));
        const auto sum = dx + dy * mask;
        const auto want = sum / (sum.square().mean(-1, true) + 1e-6).sqrt() * dg;
        (want * outer.to(torch::kDouble)).sum().backward();
        require_close(got, want);
        require_close(x.grad(), dx.grad());
        if (has_y) require_close(y->grad(), dy.grad());
        require_close(gain.grad(), dg.grad());
      }
    }
  }
}

TEST_CASE("kernels: smoothed softmax equals torch's cross-entropy", "[numeric][kernels]") {
  namespace F = torch::nn::functional;
  torch::manual_seed(9);
  for (const int64_t V : {7, 16, 1000}) {
    for (const double eps_ls : {0.0, 0.1}) {
      const auto logits = torch::randn({21, V}) * 5;
      const auto targets = torch::randint(0, V, {21}, torch::kLong);
      const auto exact = in_double(logits);
      const auto oracle = [&](double eps) {
        return F::cross_entropy(
            exact, targets,
            F::CrossEntropyFuncOptions().reduction(torch::kSum).label_smoothing(eps));
      };
      const auto want = oracle(eps_ls);
      (want * 0.5).backward();
      auto work = logits.clone();
      const auto without = smoothed_softmax_(work, targets, eps_ls, 0.5, false);
      REQUIRE(work.equal(logits));
      const auto got = smoothed_softmax_(work, targets, eps_ls, 0.5, true);
      REQUIRE(got.smoothed == Approx(want.item<double>()).epsilon(1e-6));
      REQUIRE(got.nll == Approx(oracle(0.0).item<double>()).epsilon(1e-6));
      REQUIRE(without.smoothed == got.smoothed);
      require_close(work, exact.grad());
    }
  }
}

TEST_CASE("kernels: embedding, scale, position and dropout equal the four one by one",
          "[numeric][kernels]") {
  torch::manual_seed(10);
  const auto ids = torch::tensor({3, 1, 3, 6, 0}, torch::kLong);
  const auto positions = torch::tensor({0, 1, 2, 0, 1}, torch::kLong);
  for (const auto kind : {EmbeddingGradient::dense, EmbeddingGradient::sparse}) {
    for (const double p : {0.0, 0.3}) {
      const auto weight = leaf({7, 19});
      const auto table = leaf({4, 19});
      const auto mask = p > 0 ? mask_of_seed(11, {5, 19}, p) : torch::ones({5, 19}, torch::kDouble);
      const auto outer = torch::randn({5, 19});
      torch::manual_seed(11);
      const auto got = embedded(weight, ids, 1.7, table, positions, p, kind);
      (got * outer).sum().backward();
      const auto dw = in_double(weight), dt = in_double(table);
      const auto want = (dw.index_select(0, ids) * 1.7 + dt.index_select(0, positions)) * mask;
      (want * outer.to(torch::kDouble)).sum().backward();
      require_close(got, want);
      require_close(weight.grad().to_dense(), dw.grad());
      require_close(table.grad(), dt.grad());
    }
  }
  REQUIRE_THROWS(
      embedded(leaf({7, 19}), ids + 1, 1, std::nullopt, positions, 0, EmbeddingGradient::dense));
}

TEST_CASE("kernels: the feed-forward layer equals equation 2, values and gradients",
          "[numeric][kernels]") {
  torch::manual_seed(12);
  for (const int64_t d_ff : {5, 48}) {
    const std::vector<torch::Tensor> ours = {leaf({2, 35, 7}), leaf({d_ff, 7}), leaf({d_ff}),
                                             leaf({7, d_ff}), leaf({7})};
    std::vector<torch::Tensor> exact;
    for (const auto& x : ours) exact.push_back(in_double(x));
    const auto outer = torch::randn({2, 35, 7});
    const auto got = relu_feed_forward(ours[0], ours[1], ours[2], ours[3], ours[4]);
    const auto inner = torch::relu(exact[0].matmul(exact[1].t()) + exact[2]);
    const auto want = inner.matmul(exact[3].t()) + exact[4];
    (got * outer).sum().backward();
    (want * outer.to(torch::kDouble)).sum().backward();
    require_close(got, want);
    for (size_t i = 0; i < ours.size(); ++i) require_close(ours[i].grad(), exact[i].grad());
  }
}
