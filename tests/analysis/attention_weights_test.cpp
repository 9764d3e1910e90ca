#include "transformer/analysis/attention_weights.h"

#include <torch/torch.h>

#include <cmath>

#include "tests/catch.h"
#include "tests/nn/configs.h"
#include "transformer/nn/init.h"

using namespace transformer;

namespace {

torch::Tensor attended_source() { return torch::tensor({{5, 9, 4, 16, 3}, {8, 6, 3, 0, 0}}); }
torch::Tensor attended_target() {
  return torch::tensor({{2, 10, 7, 7, 12, 15, 4}, {2, 11, 5, 0, 0, 0, 0}});
}

}  // namespace

TEST_CASE("attention weights: rows sum to 1, nothing on padding or on what comes later",
          "[numeric]") {
  auto config = small_model();
  for (const auto placement : {NormPlacement::post, NormPlacement::pre}) {
    config.norm_placement = placement;
    config.kv_heads = 2;
    Transformer model(config);
    initialise(*model, 1);
    const auto all = attention_weights(model, attended_source(), attended_target());
    REQUIRE(all.size() == 2 + 2 * 2);
    for (const auto& [name, weights] : all) {
      INFO(name);
      const bool is_cross = name.ends_with("cross_attention");
      const bool is_encoder = name.starts_with("encoder");
      REQUIRE(weights.sizes() ==
              torch::IntArrayRef({2, 4, is_encoder ? 5 : 7, is_encoder || is_cross ? 5 : 7}));
      REQUIRE(torch::allclose(weights.sum(-1), torch::ones({}), 1e-5, 1e-5));
      if (is_encoder || is_cross) {
        REQUIRE(weights[1].narrow(-1, 3, 2).count_nonzero().item<int64_t>() == 0);
        REQUIRE(weights[0].gt(0).all().item<bool>());
      } else {
        REQUIRE(weights.triu(1).count_nonzero().item<int64_t>() == 0);
      }
    }
  }
}

TEST_CASE("attention weights: the encoder's first, by equation 1 from the state", "[numeric]") {
  const auto config = small_model();  // h = 4, d_k = 5
  Transformer model(config);
  initialise(*model, 2);
  const torch::NoGradGuard no_gradient;
  const auto state = model->named_parameters();
  const auto row = [&](int64_t position) {
    const int64_t id = attended_source()[0][position].item<int64_t>();
    return state["embedding.weight"][id] * std::sqrt(12.0) +
           sinusoid_table(PositionKind::sinusoidal, 5, 12)[position].to(torch::kFloat);
  };
  const auto q = state["encoder.layers.0.self_attention.q.weight"];
  const auto k = state["encoder.layers.0.self_attention.k.weight"];
  const auto weights = attention_weights(model, attended_source(), attended_target())[0].weights;
  for (int64_t head = 0; head < 4; ++head) {
    const auto query = q.narrow(0, 5 * head, 5).mv(row(1));
    std::vector<double> scores;
    double sum = 0;
    for (int64_t key = 0; key < 5; ++key) {
      const auto product = query.dot(k.narrow(0, 5 * head, 5).mv(row(key))).item<double>();
      scores.push_back(std::exp(product / std::sqrt(5.0)));
      sum += scores.back();
    }
    for (int64_t key = 0; key < 5; ++key) {
      REQUIRE(weights[0][head][1][key].item<double>() ==
              Approx(scores[static_cast<size_t>(key)] / sum).epsilon(1e-4));
    }
  }
}
