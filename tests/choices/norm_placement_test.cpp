#include "transformer/choices/norm_placement.h"

#include <torch/torch.h>

#include "tests/catch.h"
#include "tests/nn/configs.h"
#include "transformer/nn/decoder.h"
#include "transformer/nn/encoder.h"
#include "transformer/nn/init.h"

using namespace transformer;

namespace {

// By the formula, for gain 1 and bias 0.
torch::Tensor unit(const torch::Tensor& x) {
  const auto centred = x - x.mean(-1, true);
  return centred / (centred.square().mean(-1, true) + 1e-6).sqrt();
}

// For N = M = 6, from the formulas of Wang et al. 2022, computed apart.
constexpr double kEncoderAlpha = 1.417938140685523, kEncoderBeta = 0.49698924077132345;
constexpr double kDecoderAlpha = 2.0597671439071177, kDecoderBeta = 0.34329452398451965;

ModelConfig six_layers(NormPlacement placement) {
  auto config = small_model();
  config.N = 6;
  config.norm_placement = placement;
  return config;
}

}  // namespace

TEST_CASE("norm placement: each is its formula", "[numeric]") {
  torch::manual_seed(1);
  const auto sublayer = [](const torch::Tensor& y) -> torch::Tensor { return 2 * y + y.flip(-1); };
  const auto x = 3 + torch::randn({2, 5, 12});
  const auto bottom = torch::randn({2, 5, 12});
  for (const auto stack : {Stack::encoder, Stack::decoder}) {
    const double alpha = stack == Stack::encoder ? kEncoderAlpha : kDecoderAlpha;
    const auto check = [&](NormPlacement placement, const torch::Tensor& first,
                           const torch::Tensor& last) {
      INFO(name_of(placement));
      auto config = six_layers(placement);
      config.P_drop = 0.5;  // which evaluation leaves out
      Residual residual(config, stack);
      residual->eval();
      REQUIRE(torch::allclose(residual(x, sublayer), first, 1e-5, 1e-5));
      REQUIRE(torch::allclose(residual(x, sublayer, bottom), last, 1e-5, 1e-5));
    };
    const auto post = unit(x + sublayer(x));
    check(NormPlacement::post, post, post);
    const auto pre = x + sublayer(unit(x));
    check(NormPlacement::pre, pre, pre);
    const auto deepnorm = unit(alpha * x + sublayer(x));
    check(NormPlacement::deepnorm, deepnorm, deepnorm);
    check(NormPlacement::b2t, post, unit(bottom + x + sublayer(x)));
  }
}

TEST_CASE("norm placement: deepnorm scales what training begins with", "[numeric]") {
  const auto initial = [](NormPlacement placement) {
    Transformer model(six_layers(placement));
    initialise(*model, 1);
    return model->named_parameters();
  };
  const auto plain = initial(NormPlacement::post);
  const auto scaled = initial(NormPlacement::deepnorm);
  REQUIRE(scaled.size() == plain.size());
  int64_t matrices = 0;
  for (const auto& item : plain) {
    INFO(item.key());
    double want = 1;
    for (const char* name : {"attention.v", "attention.o", "feed_forward.in", "feed_forward.out"}) {
      if (item.key().find(name) == std::string::npos || item.value().dim() == 1) continue;
      want = item.key().starts_with("encoder") ? kEncoderBeta : kDecoderBeta;
      ++matrices;
    }
    REQUIRE(torch::allclose(scaled[item.key()], want * item.value(), 1e-5, 1e-6));
  }
  REQUIRE(matrices == 6 * 4 + 6 * 6);
}

TEST_CASE("norm placement: b2t leads what a layer is given past its norms, to the last",
          "[numeric]") {
  torch::manual_seed(3);
  const auto config = six_layers(NormPlacement::b2t);
  const auto x = torch::randn({2, 5, 12});
  const auto memory = torch::randn({2, 7, 12});
  const auto run = [](torch::nn::Module& layer, const std::string& name, const torch::Tensor& y,
                      const torch::Tensor& looked_at, const Mask& mask = {}) {
    return layer.named_modules()[name]->as<MultiHeadAttentionImpl>()->forward(y, looked_at, mask);
  };
  const auto transform = [](torch::nn::Module& layer, const torch::Tensor& y) {
    return layer.named_modules()["feed_forward"]->as<FeedForwardImpl>()->forward(y);
  };
  EncoderLayer encoder(config);
  auto y = unit(x + run(*encoder, "self_attention", x, x));
  REQUIRE(torch::allclose(encoder(x, Mask{}), unit(x + y + transform(*encoder, y)), 1e-4, 1e-5));

  DecoderLayer decoder(config);
  y = unit(x + run(*decoder, "self_attention", x, x, {.causal = true}));
  y = unit(y + run(*decoder, "cross_attention", y, memory));
  REQUIRE(torch::allclose(decoder(x, memory, Mask{}), unit(x + y + transform(*decoder, y)), 1e-4,
                          1e-5));
}
