#include <c10/core/InferenceMode.h>
#include <torch/nn/modules/transformercoder.h>
#include <torch/nn/modules/transformerlayer.h>
#include <torch/torch.h>

#include <set>

#include "tests/catch.h"
#include "tests/nn/choices.h"
#include "tests/nn/passes.h"
#include "transformer/analysis/attention_weights.h"

using namespace transformer;

namespace {

constexpr auto kOneStack = {Family::decoder_only, Family::encoder_only};

// Every choice in a model of one stack.
std::vector<std::pair<std::string, ModelConfig>> each_choice_of(Family family) {
  auto all = each_choice();
  for (auto& [name, config] : all) {
    name = name_of(family) + ", " + name;
    config.family = family;
  }
  return all;
}

const torch::Tensor& no_source() {
  static const auto none = torch::zeros({2, 0}, torch::kLong);
  return none;
}

// torch::nn's stack of encoder layers with our weights, which all become other than 0 and 1.
// It has no choice but d_k = d_v = d_model / h, biases everywhere and an epsilon of 1e-5.
torch::nn::TransformerEncoder oracle_of(Transformer& model, const std::string& stack) {
  const torch::NoGradGuard no_grad;
  const auto& config = model->config();
  torch::nn::TransformerEncoder oracle(torch::nn::TransformerEncoderOptions(
      torch::nn::TransformerEncoderLayerOptions(config.d_model, config.h)
          .dim_feedforward(config.d_ff)
          .dropout(0),
      config.N));
  oracle->to(torch::kDouble);
  auto theirs = oracle->named_parameters();
  for (auto& parameter : model->parameters()) parameter.normal_(0.3, 0.5);
  const auto ours = model->named_parameters();
  for (int64_t i = 0; i < config.N; ++i) {
    const std::string to = "layers." + std::to_string(i) + ".";
    const std::string from = stack + "." + to;
    for (const std::string kind : {"weight", "bias"}) {
      theirs[to + "self_attn.in_proj_" + kind].copy_(torch::cat(
          {ours[from + "self_attention.q." + kind], ours[from + "self_attention.k." + kind],
           ours[from + "self_attention.v." + kind]}));
      const std::pair<const char*, const char*> pairs[] = {
          {"self_attn.out_proj.", "self_attention.o."},
          {"linear1.", "feed_forward.in."},
          {"linear2.", "feed_forward.out."},
          {"norm1.", "self_attention_residual.norm."},
          {"norm2.", "feed_forward_residual.norm."}};
      for (const auto& [their, our] : pairs)
        theirs[to + their + kind].copy_(ours[from + our + kind]);
    }
  }
  return oracle;
}

// A loss in which every entry of the hidden states at real positions has a weight of its own.
torch::Tensor weighted(const torch::Tensor& hidden) {
  const auto real = hidden.index({padded_target().ne(0)});
  return (real * torch::linspace(-1, 1, real.numel(), torch::kDouble).view_as(real)).sum();
}

void require_steps_equal_the_whole(Transformer& model, double tolerance) {
  const auto tokens = tokens_by_steps();
  require_same_by_steps(model, tokens, model->pass(no_source(), tokens).hidden, model->start(2),
                        tolerance);
}

}  // namespace

TEST_CASE("families: a stack alone has the target side's names, and none of the other's",
          "[numeric]") {
  for (const auto family : kOneStack) {
    INFO(name_of(family));
    const std::string stack = family == Family::decoder_only ? "decoder" : "encoder";
    auto config = small_model();
    config.family = family;
    config.N = 1;
    config.norm_placement = NormPlacement::pre;
    config.positions = PositionKind::learned;
    config.tie_embeddings = false;
    std::set<std::string> want = {"target_embedding.weight", "target_positions.weight",
                                  "output.weight", stack + ".norm.weight", stack + ".norm.bias"};
    for (const std::string kind : {".weight", ".bias"}) {
      for (const std::string part :
           {"feed_forward.in", "feed_forward.out", "self_attention_residual.norm",
            "feed_forward_residual.norm"}) {
        want.insert(stack + ".layers.0." + part + kind);
      }
    }
    for (const std::string part : {"q", "k", "v", "o"}) {
      want.insert(stack + ".layers.0.self_attention." + part + ".weight");
    }
    const auto keys = Transformer(config)->named_parameters().keys();
    REQUIRE(std::set<std::string>(keys.begin(), keys.end()) == want);
    config.tie_embeddings = true;
    config.positions = PositionKind::sinusoidal;
    REQUIRE(Transformer(config)->named_parameters().contains("embedding.weight"));
  }
}

TEST_CASE("families: a stack alone is torch::nn::TransformerEncoder, causal or not, with gradients",
          "[numeric]") {
  for (const auto family : kOneStack) {
    INFO(name_of(family));
    torch::manual_seed(1);
    auto config = small_model();
    config.family = family;
    config.d_k = config.d_v = 3;
    config.attention_bias = true;
    config.norm_epsilon = 1e-5;
    config.positions = PositionKind::none;
    Transformer model(config);
    model->to(torch::kDouble);
    const std::string stack = family == Family::decoder_only ? "decoder" : "encoder";
    auto oracle = oracle_of(model, stack);

    const auto hidden = model->pass(no_source(), padded_target()).hidden;
    const auto x =
        torch::embedding(model->output_weight().detach(), padded_target()) * std::sqrt(12.0);
    const auto ahead =
        torch::full({7, 7}, -std::numeric_limits<double>::infinity(), torch::kDouble).triu(1);
    const bool is_causal = family == Family::decoder_only;
    const auto want =
        oracle
            ->forward(x.transpose(0, 1), is_causal ? ahead : torch::Tensor(), padded_target().eq(0))
            .transpose(0, 1);
    const auto real = padded_target().ne(0);
    REQUIRE(torch::allclose(hidden.index({real}), want.index({real}), 1e-9, 1e-10));
    weighted(hidden).backward();
    weighted(want).backward();
    const auto theirs = oracle->named_parameters();
    for (int64_t i = 0; i < 2; ++i) {
      const std::string layer = "layers." + std::to_string(i) + ".";
      for (const std::string kind : {"weight", "bias"}) {
        const auto ours = [&](const std::string& name) {
          return model->named_parameters()[stack + "." + layer + name + kind].grad();
        };
        const auto same = [&](const torch::Tensor& one, const std::string& name) {
          INFO(layer << name << kind);
          REQUIRE(theirs[layer + name + kind].grad().abs().max().item<double>() > 0);
          REQUIRE(torch::allclose(one, theirs[layer + name + kind].grad(), 1e-8, 1e-9));
        };
        same(torch::cat(
                 {ours("self_attention.q."), ours("self_attention.k."), ours("self_attention.v.")}),
             "self_attn.in_proj_");
        same(ours("self_attention.o."), "self_attn.out_proj.");
        same(ours("feed_forward.in."), "linear1.");
        same(ours("feed_forward.out."), "linear2.");
        same(ours("self_attention_residual.norm."), "norm1.");
        same(ours("feed_forward_residual.norm."), "norm2.");
      }
    }
  }
}

TEST_CASE("families: the future does not reach a decoder's past, and reaches all of an encoder",
          "[numeric]") {
  for (const auto family : kOneStack) {
    for (const auto& [name, config] : each_choice_of(family)) {
      INFO(name);
      auto model = initialised(config);
      model->eval();
      model->to(torch::kDouble);
      const auto before = model(no_source(), padded_target());
      auto other = padded_target();
      other[0].narrow(0, 4, 3).add_(1);
      const auto after = model(no_source(), other);
      const bool is_decoder = family == Family::decoder_only;
      REQUIRE(after[0].narrow(0, 0, 4).equal(before[0].narrow(0, 0, 4)) == is_decoder);
      REQUIRE_FALSE(torch::allclose(after[0][4], before[0][4]));
      // Padding adds nothing.
      const auto alone =
          model(no_source().narrow(0, 1, 1), padded_target().narrow(0, 1, 1).narrow(1, 0, 3));
      REQUIRE(torch::allclose(before[1].narrow(0, 0, 3), alone[0], 1e-10, 1e-12));
    }
  }
}

TEST_CASE("families: without padding they compute the same, values and gradients", "[numeric]") {
  for (const auto family : kOneStack) {
    for (const auto& [name, config] : each_choice_of(family)) {
      INFO(name);
      require_same_without_padding(config, no_source(), padded_target());
    }
  }
}

TEST_CASE("families: a decoder alone by steps with its cache equals all at once", "[numeric]") {
  for (const auto& [name, config] : each_choice_of(Family::decoder_only)) {
    INFO(name);
    auto model = initialised(config);
    model->eval();
    {
      const c10::InferenceMode inference;  // with the kernels
      require_steps_equal_the_whole(model, 1e-4);
    }
    model->to(torch::kDouble);
    require_steps_equal_the_whole(model, 1e-9);
  }
}

TEST_CASE("families: rows of a cache without a memory are chosen and repeated", "[numeric]") {
  auto config = small_model();
  config.family = Family::decoder_only;
  auto model = initialised(config);
  model->eval();
  const torch::NoGradGuard no_grad;
  auto cache = model->start(2);
  model->step(torch::tensor({2, 2}), cache);
  model->step(torch::tensor({5, 9}), cache);
  cache.select(torch::tensor({1, 0}));
  model->step(torch::tensor({4, 6}), cache);
  cache.select(torch::tensor({0, 0}));
  const auto last = model->step(torch::tensor({11, 8}), cache);
  const auto whole =
      model->pass(no_source(), torch::tensor({{2, 9, 4, 11}, {2, 9, 4, 8}})).hidden.select(1, 3);
  REQUIRE(torch::allclose(last, whole, 1e-5, 1e-6));
}

TEST_CASE("families: parameters and shapes are counted as they are built", "[numeric]") {
  for (const auto family : kOneStack) {
    for (auto [name, config] : each_choice_of(family)) {
      for (const bool tied : {true, false}) {
        INFO(name << (tied ? "" : ", untied"));
        config.tie_embeddings = tied;
        require_counted_as_built(config, no_source(), padded_target());
        auto model = initialised(config);
        for (const auto& each : tensor_shapes(model, no_source(), padded_target())) {
          REQUIRE(each.place.find("source") == std::string::npos);
        }
      }
    }
  }
}

TEST_CASE("families: attention weights are one stack's, the future at 0 in the decoder's",
          "[numeric]") {
  for (const auto family : kOneStack) {
    auto config = small_model();
    config.family = family;
    auto model = initialised(config);
    const auto all = attention_weights(model, no_source(), padded_target());
    REQUIRE(all.size() == 2);
    for (const auto& each : all) {
      REQUIRE(each.weights.sizes() == torch::IntArrayRef({2, 4, 7, 7}));
      REQUIRE(torch::allclose(each.weights[0].sum(-1), torch::ones({4, 7})));
      const auto ahead = each.weights[0].triu(1).abs().sum().item<double>();
      REQUIRE((ahead == 0) == (family == Family::decoder_only));
    }
  }
}

TEST_CASE("families: what a model has not is refused", "[numeric]") {
  for (const auto family : kOneStack) {
    auto config = small_model();
    config.family = family;
    auto model = initialised(config);
    const auto mask = padding_mask(padded_target());
    REQUIRE_THROWS_WITH(model->encode(padded_target(), mask),
                        Catch::Matchers::Contains("reads no source"));
  }
  auto config = small_model();
  REQUIRE_THROWS(initialised(config)->start(2));
  config.family = Family::encoder_only;
  REQUIRE_THROWS(initialised(config)->start(2));
}
