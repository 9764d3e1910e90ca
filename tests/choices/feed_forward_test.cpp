#include "transformer/choices/feed_forward.h"

#include <torch/torch.h>

#include <cmath>

#include "tests/catch.h"
#include "tests/nn/configs.h"
#include "tests/nn/gradients.h"
#include "transformer/analysis/parameters.h"
#include "transformer/nn/feed_forward.h"

using namespace transformer;

namespace {

constexpr auto kFeedForwardKinds = {FeedForwardKind::relu, FeedForwardKind::gelu,
                                    FeedForwardKind::swiglu, FeedForwardKind::geglu};

double activation(FeedForwardKind kind, double x) {
  if (kind == FeedForwardKind::relu) return x > 0 ? x : 0;
  if (kind == FeedForwardKind::swiglu) return x / (1 + std::exp(-x));
  return x * std::erfc(-x / std::sqrt(2.0)) / 2;
}

// Of one row, number by number.
std::vector<double> feed_forward_by_hand(FeedForwardKind kind, const FeedForward& layer,
                                         const double* x) {
  const auto parameters = layer->named_parameters();
  const auto entry = [&](const std::string& name, int64_t i, int64_t j) {
    return parameters[name + ".weight"][i][j].item<double>();
  };
  const auto bias = [&](const std::string& name, int64_t i) {
    return parameters[name + ".bias"][i].item<double>();
  };
  const auto inner = [&](const std::string& name, int64_t i) {
    double sum = bias(name, i);
    for (int64_t j = 0; j < 12; ++j) sum += entry(name, i, j) * x[j];
    return sum;
  };
  std::vector<double> out;
  for (int64_t i = 0; i < 12; ++i) out.push_back(bias("out", i));
  const int64_t width = parameters["in.bias"].size(0);
  for (int64_t k = 0; k < width; ++k) {
    const bool gated = kind == FeedForwardKind::swiglu || kind == FeedForwardKind::geglu;
    const double y = gated ? activation(kind, inner("gate", k)) * inner("in", k)
                           : activation(kind, inner("in", k));
    for (int64_t i = 0; i < 12; ++i) out[static_cast<size_t>(i)] += entry("out", i, k) * y;
  }
  return out;
}

}  // namespace

TEST_CASE("feed-forward: each kind is its formula, values and gradients", "[numeric]") {
  torch::manual_seed(1);
  auto config = small_model();
  config.d_ff = 7;
  for (const auto kind : kFeedForwardKinds) {
    INFO(name_of(kind));
    config.feed_forward = kind;
    FeedForward layer(config);
    auto x = torch::randn({3, 12});
    const auto in_float = layer(x);
    layer->to(torch::kDouble);
    x = x.to(torch::kDouble);
    const auto got = layer(x);
    REQUIRE(torch::allclose(in_float.to(torch::kDouble), got, 1e-4, 1e-5));
    for (int64_t row = 0; row < 3; ++row) {
      const auto want = feed_forward_by_hand(kind, layer, x.const_data_ptr<double>() + 12 * row);
      for (int64_t i = 0; i < 12; ++i) {
        REQUIRE(got[row][i].item<double>() == Approx(want[static_cast<size_t>(i)]).margin(1e-12));
      }
    }
    const auto f = [&] { return layer(x).pow(3).sum(); };
    require_gradient(f, x.requires_grad_());
    if (is_gated(kind)) require_gradient(f, layer->named_parameters()["gate.weight"]);
  }
}

TEST_CASE("feed-forward: dropout falls on the inner activations, in training alone", "[numeric]") {
  torch::manual_seed(2);
  auto config = small_model();
  config.d_model = 20;  // as wide as the inner layer: the last matrix can be the identity
  config.activation_drop = 0.25;
  for (const auto kind : kFeedForwardKinds) {
    config.feed_forward = kind;
    FeedForward layer(config);
    {
      const torch::NoGradGuard no_gradient;
      for (auto& item : layer->named_parameters()) {
        if (item.key() == "out.weight") {
          item.value().copy_(torch::eye(20));
        } else {
          item.value().fill_(item.key().ends_with("bias") && item.key() != "out.bias" ? 1.0 : 0.0);
        }
      }
    }
    const auto x = torch::randn({500, 20});
    const double kept = activation(kind, 1.0);
    const auto y = layer(x).to(torch::kDouble) / kept;
    REQUIRE(y.gt(0.5).to(torch::kDouble).mean().item<double>() == Approx(0.75).margin(0.02));
    REQUIRE(torch::allclose(y, y.gt(0.5).to(torch::kDouble) / 0.75, 1e-4, 1e-5));
    layer->eval();
    REQUIRE(
        torch::allclose(layer(x).to(torch::kDouble), torch::full({500, 20}, kept, torch::kDouble)));
  }
}

TEST_CASE("feed-forward: a matched gated layer has an ungated one's parameters") {
  REQUIRE(inner_width(FeedForwardKind::swiglu, FeedForwardWidth::matched, 2048) == 1365);
  REQUIRE(inner_width(FeedForwardKind::geglu, FeedForwardWidth::matched, 100) == 67);
  REQUIRE(inner_width(FeedForwardKind::geglu, FeedForwardWidth::matched, 1) == 1);
  REQUIRE(inner_width(FeedForwardKind::geglu, FeedForwardWidth::stated, 100) == 100);
  REQUIRE(inner_width(FeedForwardKind::gelu, FeedForwardWidth::matched, 100) == 100);
  const auto parameters = [](FeedForwardKind kind) {
    Config config;
    config.model.V = 37000;
    config.model.feed_forward = kind;
    config.model.feed_forward_width = FeedForwardWidth::matched;
    return static_cast<double>(count_parameters(resolve(config).model).encoder_feed_forward);
  };
  REQUIRE(parameters(FeedForwardKind::gelu) == parameters(FeedForwardKind::relu));
  REQUIRE(parameters(FeedForwardKind::swiglu) ==
          Approx(parameters(FeedForwardKind::relu)).epsilon(0.001));
}
