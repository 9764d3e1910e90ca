#include "transformer/nn/kernels/panel_matrix.h"

#include <c10/core/InferenceMode.h>
#include <torch/torch.h>

#include <cmath>

#include "tests/catch.h"
#include "transformer/nn/kernels/cached_attention.h"
#include "transformer/nn/kernels/cpu_kernels.h"
#include "transformer/nn/projection.h"
#include "transformer/nn/scaled_dot_product.h"

using namespace transformer;

namespace {

struct Threads {
  explicit Threads(int count) : before(at::get_num_threads()) { at::set_num_threads(count); }
  ~Threads() { at::set_num_threads(before); }
  int before;
};

}  // namespace

TEST_CASE("panel matrix: equals the product in double, for every kernel and shape", "[numeric]") {
  torch::manual_seed(1);
  const Threads threads(GENERATE(1, 3));
  for (const auto* kernels : cpu_kernels()) {
    for (const auto& [rows, inner, columns] : {std::tuple{1, 7, 1},
                                               {4, 12, 33},
                                               {6, 64, 64},
                                               {7, 65, 129},
                                               {29, 130, 63},
                                               {300, 700, 150},
                                               {2, 1, 1000}}) {
      const auto x = torch::randn({rows, inner}), weight = torch::randn({columns, inner});
      const auto bias = torch::randn({columns});
      const auto want = x.to(torch::kDouble).matmul(weight.to(torch::kDouble).t());
      const PanelMatrix plain(*kernels, weight), biased(*kernels, weight, bias);
      REQUIRE(torch::allclose(plain.multiply(x).to(torch::kDouble), want, 1e-5, 1e-4));
      REQUIRE(torch::allclose(biased.multiply(x.view({1, rows, inner})).to(torch::kDouble),
                              (want + bias).view({1, rows, columns}), 1e-5, 1e-4));
    }
  }
}

TEST_CASE("panel matrix: a row's products are the same to the bit, alone and in any company",
          "[numeric]") {
  torch::manual_seed(2);
  for (const auto* kernels : cpu_kernels()) {
    const auto x = torch::randn({501, 96});
    const PanelMatrix matrix(*kernels, torch::randn({200, 96}));
    const auto all = matrix.multiply(x);
    for (const int64_t first : {0, 100, 499}) {
      for (const int64_t count : {1, 2, 5}) {
        if (first + count > 501) continue;
        REQUIRE(matrix.multiply(x.narrow(0, first, count)).equal(all.narrow(0, first, count)));
      }
    }
  }
}

TEST_CASE("panel matrix: the best of each row and the sum are those of all products", "[numeric]") {
  torch::manual_seed(3);
  const Threads threads(GENERATE(1, 2, 5));
  for (const auto* kernels : cpu_kernels()) {
    for (const auto& [rows, columns, width] :
         {std::tuple{1, 5, 2}, {3, 70, 4}, {17, 3001, 9}, {40, 1200, 1}, {2, 6, 30}}) {
      const auto x = torch::randn({rows, 33});
      auto weight = torch::randn({columns, 33});
      weight.select(0, columns - 1).copy_(weight.select(0, 4));  // equal products
      const PanelMatrix matrix(*kernels, weight);
      const auto best = matrix.best(x, width, 0b1101);
      auto logits = matrix.multiply(x);
      REQUIRE(
          torch::allclose(best.normalizers, logits.to(torch::kDouble).logsumexp(1), 1e-6, 1e-6));
      for (const int64_t left_out : {0, 2, 3}) logits.select(1, left_out).fill_(-INFINITY);
      const int64_t listed = std::min<int64_t>(width, columns - 3);
      const auto sorted = std::get<0>(logits.sort(/*stable=*/true, 1, /*descending=*/true));
      const auto order = std::get<1>(logits.sort(/*stable=*/true, 1, /*descending=*/true));
      REQUIRE(best.values.narrow(1, 0, listed).equal(sorted.narrow(1, 0, listed)));
      REQUIRE(best.columns.narrow(1, 0, listed).equal(order.narrow(1, 0, listed)));
      REQUIRE(best.values.narrow(1, listed, width - listed).eq(-INFINITY).all().item<bool>());
    }
  }
}

TEST_CASE("panel matrix: products that are no numbers are seen in the sum", "[numeric]") {
  for (const auto* kernels : cpu_kernels()) {
    auto weight = torch::randn({100, 8});
    weight[77][3] = NAN;
    const auto best = PanelMatrix(*kernels, weight).best(torch::ones({2, 8}), 4, 0);
    REQUIRE(best.normalizers.isnan().all().item<bool>());
  }
}

TEST_CASE("cached attention: slots and sentences, against the plain formula", "[numeric]") {
  torch::manual_seed(4);
  const int64_t rows = 6, h = 4, kv_heads = 2, length = 21, time = 9, all_slots = 8;
  for (const auto* kernels : cpu_kernels()) {
    for (const auto& [d_k, d_v] : {std::pair{5, 3}, {64, 64}, {16, 40}}) {
      const auto q = torch::randn({rows, h, 1, d_k});
      const auto keys = torch::randn({32, all_slots, kv_heads, d_k});
      const auto values = torch::randn({32, all_slots, kv_heads, d_v});
      const auto slots = torch::randint(0, all_slots, {rows, 32}, torch::kLong);
      const auto found = attend_slots(*kernels, q, keys, values, slots, length);
      for (int64_t row = 0; row < rows; ++row) {
        std::vector<torch::Tensor> k, v;
        for (int64_t i = 0; i < length; ++i) {
          k.push_back(keys[i][slots[row][i].item<int64_t>()]);
          v.push_back(values[i][slots[row][i].item<int64_t>()]);
        }
        const auto want =
            scaled_dot_product_with_weights(q.narrow(0, row, 1), torch::stack(k, 1).unsqueeze(0),
                                            torch::stack(v, 1).unsqueeze(0), {});
        REQUIRE(torch::allclose(found[row], want.values[0], 1e-4, 1e-5));
      }

      const auto memory_keys = torch::randn({5, kv_heads, time, d_k});
      const auto memory_values = torch::randn({5, kv_heads, time, d_v});
      auto mask = torch::rand({5, 1, 1, time}) > 0.4;
      mask[3].fill_(false);  // nothing to look at
      const auto groups = torch::tensor({4, 3, 0}, torch::kLong);
      const auto read = attend_sentences(*kernels, q, memory_keys, memory_values, mask, groups);
      const auto sentence = groups.repeat_interleave(2);
      const auto want = scaled_dot_product_with_weights(
          q, memory_keys.index_select(0, sentence), memory_values.index_select(0, sentence),
          {.allowed = mask.index_select(0, sentence)});
      REQUIRE(torch::allclose(read, want.values, 1e-4, 1e-5));
      REQUIRE(read[2].eq(0).all().item<bool>());
    }
  }
}

TEST_CASE("projection: the panels follow its weight", "[numeric]") {
  torch::manual_seed(5);
  Projection projection(12, 20);
  projection->eval();
  const auto x = torch::randn({3, 12});
  const auto by_panels = [&] {
    const c10::InferenceMode inference;
    return projection(x);
  };
  const auto plain = [&] {
    const torch::NoGradGuard no_grad;
    return projection(x);
  };
  REQUIRE(torch::allclose(by_panels(), plain(), 1e-5, 1e-6));
  {
    const torch::NoGradGuard no_grad;
    projection->weight.mul_(2);
    projection->bias.add_(1);
  }
  REQUIRE(torch::allclose(by_panels(), plain(), 1e-5, 1e-6));
  projection->train();
  projection->weight.data().mul_(3);  // as an optimizer might, unseen
  projection->eval();
  REQUIRE(torch::allclose(by_panels(), plain(), 1e-5, 1e-6));
  const auto before = by_panels();
  projection->to(torch::kDouble);
  const c10::InferenceMode inference;
  REQUIRE(torch::allclose(projection(x.to(torch::kDouble)).to(torch::kFloat), before, 1e-5, 1e-6));
}
