#include "transformer/analysis/signal.h"

#include <torch/torch.h>

#include <cmath>

#include "tests/catch.h"
#include "tests/nn/configs.h"
#include "transformer/nn/init.h"

using namespace transformer;

namespace {

ModelConfig deep(NormPlacement placement, int64_t N) {
  Config config;
  config.model.N = N;
  config.model.d_model = 64;
  config.model.d_ff = 256;
  config.model.V = 200;
  config.model.norm_placement = placement;
  return resolve(config).model;
}

std::vector<SublayerSignal> signal(const ModelConfig& config, int64_t seed = 7) {
  Transformer model(config);
  initialise(*model, seed);
  model->eval();
  torch::manual_seed(8);
  const auto ids = torch::randint(4, config.V, {2, 8, 17}, torch::kLong);
  return measure_signal(model, [&] {
    const auto logits = model(ids[0].narrow(1, 0, 16), ids[1].narrow(1, 0, 16));
    return torch::nn::functional::cross_entropy(logits.flatten(0, 1),
                                                ids[1].narrow(1, 1, 16).flatten());
  });
}

// Of the sublayers of one kind in a stack, in order.
std::vector<SublayerSignal> of(const std::vector<SublayerSignal>& signals, const std::string& stack,
                               const std::string& kind) {
  std::vector<SublayerSignal> some;
  for (const auto& each : signals) {
    if (each.sublayer.starts_with(stack) && each.sublayer.ends_with(kind)) some.push_back(each);
  }
  return some;
}

// The mean over three seeds.
double last_gradient(NormPlacement placement, int64_t N) {
  double sum = 0;
  for (const int64_t seed : {1, 2, 3}) {
    sum += of(signal(deep(placement, N), seed), "decoder", "feed_forward").back().gradient_out;
  }
  return sum / 3;
}

// |f| / |x|, the mean over layers from .. to - 1.
double mean_ratio(const std::vector<SublayerSignal>& layers, size_t from, size_t to) {
  double sum = 0;
  for (size_t i = from; i < to; ++i) sum += layers[i].branch_trunk;
  return sum / static_cast<double>(to - from);
}

}  // namespace

TEST_CASE(
    "signal: the last feed-forward gradient is flat in depth for Post-LN and falls as "
    "1/sqrt(L) for Pre-LN",
    "[numeric]") {
  const double post =
      last_gradient(NormPlacement::post, 24) / last_gradient(NormPlacement::post, 6);
  REQUIRE(post == Approx(1).margin(0.2));
  const double pre = last_gradient(NormPlacement::pre, 24) / last_gradient(NormPlacement::pre, 6);
  REQUIRE(pre == Approx(std::sqrt(6.0 / 24)).margin(0.1));
}

TEST_CASE("signal: the stream of Pre-LN grows and its branches matter less; Post-LN's stays",
          "[numeric]") {
  const auto pre = of(signal(deep(NormPlacement::pre, 48)), "encoder", "");
  const auto post = of(signal(deep(NormPlacement::post, 48)), "encoder", "");
  REQUIRE(pre.size() == 96);
  REQUIRE(pre.back().output > 3 * pre.front().output);
  // Both branches of the last layer together, by the trunk.
  const double last = std::hypot(pre[94].branch_trunk, pre[95].branch_trunk);
  REQUIRE(last == Approx(0.17).margin(0.03));
  // The square of the norm grows by the same with each layer, so the part of a branch falls as
  // 1 / sqrt(l): around layer 42 to around layer 9.
  const auto feed_forward = of(pre, "encoder", "feed_forward");
  REQUIRE(mean_ratio(feed_forward, 36, 48) / mean_ratio(feed_forward, 6, 12) ==
          Approx(std::sqrt(9.0 / 42)).margin(0.1));
  for (const auto& each : post) REQUIRE(each.output == Approx(8).epsilon(1e-3));  // sqrt(d_model)
  const auto attention = of(post, "encoder", "self_attention");
  REQUIRE(mean_ratio(attention, 6, 12) == Approx(0.95).margin(0.2));
  REQUIRE(mean_ratio(attention, 36, 48) == Approx(0.95).margin(0.2));
}

TEST_CASE("signal: norms, ratio and dependency of one sublayer, by hand", "[numeric]") {
  auto config = small_model();
  config.N = 1;
  config.norm_placement = NormPlacement::pre;
  Transformer model(config);
  initialise(*model, 3);
  const auto parameters = model->named_parameters();
  {
    // A feed-forward layer that returns its last bias, 1, 2, ..., 12, whatever it is given.
    const torch::NoGradGuard no_gradient;
    for (const auto& item : parameters) {
      if (item.key().ends_with(".o.weight") || item.key().ends_with("out.weight")) {
        item.value().zero_();
      }
    }
    parameters["encoder.layers.0.feed_forward.out.bias"].copy_(torch::arange(1, 13));
  }
  const auto ids = torch::tensor({{5, 9, 4}});
  const auto signals = measure_signal(model, [&] {
    return model(ids, ids).index({0, 0, 1}) * 1.0;
  });
  const auto& feed_forward = signals[1];
  REQUIRE(feed_forward.sublayer == "encoder.layers.0.feed_forward");
  REQUIRE(feed_forward.branch == Approx(std::sqrt(650.0)));  // 1² + ... + 12²
  REQUIRE(feed_forward.branch_trunk == Approx(feed_forward.branch / feed_forward.trunk));
  REQUIRE(signals[0].branch == 0);
  REQUIRE(signals[0].dependency == 0);
  REQUIRE(signals[0].trunk == Approx(feed_forward.trunk));
  const torch::NoGradGuard no_gradient;
  const auto x = parameters["embedding.weight"].index_select(0, ids[0]) * std::sqrt(12.0) +
                 sinusoid_table(PositionKind::sinusoidal, 3, 12).to(torch::kFloat);
  const double variance = (x + torch::arange(1, 13)).var(false).item<double>();
  REQUIRE(feed_forward.dependency == Approx((144 - 1) / 12.0 / variance).epsilon(1e-4));
  REQUIRE(feed_forward.trunk ==
          Approx(x.square().sum(-1).mean().sqrt().item<double>()).epsilon(1e-4));
  REQUIRE(feed_forward.gradient_in == 0);  // behind a zero matrix
  const auto& last = signals.back();
  REQUIRE(
      last.gradient_out ==
      Approx(parameters["decoder.layers.0.feed_forward.out.weight"].grad().norm().item<double>()));
  REQUIRE(last.gradient_out > 0);
}
