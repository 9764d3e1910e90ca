#include <torch/nn/modules/transformercoder.h>
#include <torch/nn/modules/transformerlayer.h>

#include "tests/catch.h"
#include "tests/nn/configs.h"
#include "tests/nn/gradients.h"
#include "transformer/nn/decoder.h"
#include "transformer/nn/encoder.h"

using namespace transformer;

namespace {

// torch::nn has no choice but d_k = d_v = d_model / h, biases everywhere and an epsilon of 1e-5.
ModelConfig comparable() {
  auto config = small_model();
  config.d_k = config.d_v = 3;
  config.attention_bias = true;
  config.norm_epsilon = 1e-5;
  return config;
}

using Parameters = torch::OrderedDict<std::string, torch::Tensor>;

void copy_attention(const Parameters& from, const std::string& theirs, const Parameters& to,
                    const std::string& ours) {
  const auto weight = from[theirs + ".in_proj_weight"].chunk(3);
  const auto bias = from[theirs + ".in_proj_bias"].chunk(3);
  const char* names[] = {".q", ".k", ".v"};
  for (size_t i = 0; i < 3; ++i) {
    to[ours + names[i] + ".weight"].copy_(weight[i]);
    to[ours + names[i] + ".bias"].copy_(bias[i]);
  }
  for (const char* name : {".weight", ".bias"}) {
    to[ours + ".o" + name].copy_(from[theirs + ".out_proj" + name]);
  }
}

void copy_rest(const Parameters& from, const Parameters& to,
               const std::vector<std::pair<std::string, std::string>>& names) {
  for (const auto& [theirs, ours] : names) {
    for (const char* name : {".weight", ".bias"}) to[ours + name].copy_(from[theirs + name]);
  }
}

// Every parameter away from 0 and 1, so that each of them matters.
Parameters scatter(torch::nn::Module& module) {
  module.to(torch::kDouble);
  for (auto& parameter : module.parameters()) parameter.normal_(0.3, 0.5);
  return module.named_parameters();
}

torch::Tensor normal(torch::IntArrayRef sizes) { return torch::randn(sizes, torch::kDouble); }

}  // namespace

TEST_CASE("encoder layer: equals torch::nn::TransformerEncoderLayer", "[numeric]") {
  torch::manual_seed(1);
  const torch::NoGradGuard no_grad;
  torch::nn::TransformerEncoderLayer oracle(
      torch::nn::TransformerEncoderLayerOptions(12, 4).dim_feedforward(20).dropout(0));
  EncoderLayer layer(comparable());
  const auto from = scatter(*oracle);
  layer->to(torch::kDouble);
  const auto to = layer->named_parameters();
  copy_attention(from, "self_attn", to, "self_attention");
  copy_rest(from, to,
            {{"linear1", "feed_forward.in"},
             {"linear2", "feed_forward.out"},
             {"norm1", "self_attention_residual.norm"},
             {"norm2", "feed_forward_residual.norm"}});

  const auto x = normal({3, 6, 12});
  const auto mask =
      padding_mask(torch::tensor({{1, 1, 1, 1, 0, 0}, {1, 1, 1, 1, 1, 1}, {1, 0, 0, 0, 0, 0}}));
  const auto ignored = mask.logical_not().view({3, 6});
  const auto want = oracle->forward(x.transpose(0, 1), {}, ignored).transpose(0, 1);
  REQUIRE(torch::allclose(layer(x, Mask{mask}), want, 1e-9, 1e-10));
}

TEST_CASE("decoder layer: equals torch::nn::TransformerDecoderLayer", "[numeric]") {
  torch::manual_seed(2);
  const torch::NoGradGuard no_grad;
  torch::nn::TransformerDecoderLayer oracle(
      torch::nn::TransformerDecoderLayerOptions(12, 4).dim_feedforward(20).dropout(0));
  DecoderLayer layer(comparable());
  const auto from = scatter(*oracle);
  layer->to(torch::kDouble);
  const auto to = layer->named_parameters();
  copy_attention(from, "self_attn", to, "self_attention");
  copy_attention(from, "multihead_attn", to, "cross_attention");
  copy_rest(from, to,
            {{"linear1", "feed_forward.in"},
             {"linear2", "feed_forward.out"},
             {"norm1", "self_attention_residual.norm"},
             {"norm2", "cross_attention_residual.norm"},
             {"norm3", "feed_forward_residual.norm"}});

  const auto x = normal({2, 5, 12});
  const auto memory = normal({2, 6, 12});
  const auto mask = padding_mask(torch::tensor({{1, 1, 1, 1, 0, 0}, {1, 1, 1, 1, 1, 1}}));
  const auto ahead =
      torch::full({5, 5}, -std::numeric_limits<double>::infinity(), torch::kDouble).triu(1);
  const auto want = oracle
                        ->forward(x.transpose(0, 1), memory.transpose(0, 1), ahead, {}, {},
                                  mask.logical_not().view({2, 6}))
                        .transpose(0, 1);
  REQUIRE(torch::allclose(layer(x, memory, Mask{mask}), want, 1e-9, 1e-10));
}

TEST_CASE("stacks: pre ends in a normalization, post does not", "[numeric]") {
  torch::manual_seed(3);
  auto config = small_model();
  const auto x = torch::randn({2, 6, 12});
  const auto memory = torch::randn({2, 7, 12});
  for (const auto placement : {NormPlacement::post, NormPlacement::pre}) {
    config.norm_placement = placement;
    Encoder encoder(config);
    Decoder decoder(config);
    for (const auto& y : {encoder(x, Mask{}), decoder(x, memory, Mask{})}) {
      // Either way the last thing a stack does is to normalize.
      REQUIRE(y.mean(-1).abs().max().item<double>() < 1e-5);
      REQUIRE(torch::allclose(y.var(-1, false), torch::ones({2, 6}), 1e-3, 1e-3));
    }
    REQUIRE(encoder->named_parameters().contains("norm.weight") ==
            (placement == NormPlacement::pre));
    REQUIRE(decoder->named_parameters().contains("norm.bias") == (placement == NormPlacement::pre));
  }
}

TEST_CASE("layers: gradients equal finite differences", "[numeric]") {
  torch::manual_seed(4);
  auto config = small_model();
  config.N = 1;
  for (const auto placement : {NormPlacement::post, NormPlacement::pre}) {
    config.norm_placement = placement;
    Decoder decoder(config);
    decoder->to(torch::kDouble);
    const auto options = torch::dtype(torch::kDouble).requires_grad(true);
    auto x = torch::randn({2, 3, 12}, options);
    auto memory = torch::randn({2, 4, 12}, options);
    const auto mask = padding_mask(torch::tensor({{1, 1, 0, 0}, {1, 1, 1, 1}}));
    const auto f = [&] { return decoder(x, memory, Mask{mask}).pow(3).sum(); };
    require_gradient(f, x);
    require_gradient(f, memory);
    require_gradient(f, decoder->named_parameters()["layers.0.feed_forward.in.bias"]);
  }
}
