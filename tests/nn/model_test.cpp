#include "transformer/nn/model.h"

#include <set>

#include "tests/catch.h"
#include "tests/nn/configs.h"
#include "tests/nn/passes.h"
#include "transformer/error.h"

using namespace transformer;

namespace {

constexpr auto kAllPositions = {PositionKind::sinusoidal, PositionKind::sinusoidal_concatenated,
                                PositionKind::learned, PositionKind::none};

std::set<std::string> names(const ModelConfig& config) {
  const auto keys = Transformer(config)->named_parameters().keys();
  return {keys.begin(), keys.end()};
}

}  // namespace

TEST_CASE("model: the state's names are the checkpoint format", "[numeric]") {
  auto config = small_model();
  config.N = 1;
  const std::set<std::string> stacks = {"encoder.layers.0.self_attention.q.weight",
                                        "encoder.layers.0.self_attention.k.weight",
                                        "encoder.layers.0.self_attention.v.weight",
                                        "encoder.layers.0.self_attention.o.weight",
                                        "encoder.layers.0.self_attention_residual.norm.weight",
                                        "encoder.layers.0.self_attention_residual.norm.bias",
                                        "encoder.layers.0.feed_forward.in.weight",
                                        "encoder.layers.0.feed_forward.in.bias",
                                        "encoder.layers.0.feed_forward.out.weight",
                                        "encoder.layers.0.feed_forward.out.bias",
                                        "encoder.layers.0.feed_forward_residual.norm.weight",
                                        "encoder.layers.0.feed_forward_residual.norm.bias",
                                        "decoder.layers.0.self_attention.q.weight",
                                        "decoder.layers.0.self_attention.k.weight",
                                        "decoder.layers.0.self_attention.v.weight",
                                        "decoder.layers.0.self_attention.o.weight",
                                        "decoder.layers.0.self_attention_residual.norm.weight",
                                        "decoder.layers.0.self_attention_residual.norm.bias",
                                        "decoder.layers.0.cross_attention.q.weight",
                                        "decoder.layers.0.cross_attention.k.weight",
                                        "decoder.layers.0.cross_attention.v.weight",
                                        "decoder.layers.0.cross_attention.o.weight",
                                        "decoder.layers.0.cross_attention_residual.norm.weight",
                                        "decoder.layers.0.cross_attention_residual.norm.bias",
                                        "decoder.layers.0.feed_forward.in.weight",
                                        "decoder.layers.0.feed_forward.in.bias",
                                        "decoder.layers.0.feed_forward.out.weight",
                                        "decoder.layers.0.feed_forward.out.bias",
                                        "decoder.layers.0.feed_forward_residual.norm.weight",
                                        "decoder.layers.0.feed_forward_residual.norm.bias"};
  const auto with = [&](std::set<std::string> more) {
    more.insert(stacks.begin(), stacks.end());
    return more;
  };
  REQUIRE(names(config) == with({"embedding.weight"}));
  REQUIRE(Transformer(config)->named_buffers().is_empty());

  auto learned = config;
  learned.positions = PositionKind::learned;
  REQUIRE(names(learned) ==
          with({"embedding.weight", "source_positions.weight", "target_positions.weight"}));

  auto untied = config;
  untied.tie_embeddings = false;
  untied.source_V = 13;
  REQUIRE(names(untied) ==
          with({"source_embedding.weight", "target_embedding.weight", "output.weight"}));

  auto pre = config;
  pre.norm_placement = NormPlacement::pre;
  REQUIRE(names(pre) == with({"embedding.weight", "encoder.norm.weight", "encoder.norm.bias",
                              "decoder.norm.weight", "decoder.norm.bias"}));
}

TEST_CASE("model: shapes, with two vocabularies", "[numeric]") {
  auto config = small_model();
  config.tie_embeddings = false;
  config.source_V = 23;
  auto model = initialised(config);
  const auto mask = padding_mask(padded_source());
  const auto memory = model->encode(padded_source(), mask);
  REQUIRE(memory.sizes() == torch::IntArrayRef({2, 5, 12}));
  REQUIRE(model->decode(padded_target(), memory, mask).sizes() == torch::IntArrayRef({2, 7, 12}));
  REQUIRE(model->output_weight().sizes() == torch::IntArrayRef({17, 12}));
  REQUIRE(model(padded_source(), padded_target()).sizes() == torch::IntArrayRef({2, 7, 17}));
  REQUIRE_THROWS(model->encode(torch::tensor({{23}}), padding_mask(torch::tensor({{23}}))));
}

TEST_CASE("model: an embedding is scaled by sqrt(d_model) before its position is added",
          "[numeric]") {
  auto config = small_model();
  config.N = 1;
  auto model = initialised(config);
  const torch::NoGradGuard no_grad;
  // Layers that add nothing: the norm of each residual alone remains, and it is the same thrice
  // over.
  for (const auto& item : model->named_parameters()) {
    if (item.key().ends_with("o.weight") || item.key().ends_with("out.weight"))
      item.value().zero_();
  }
  const auto x = model->output_weight().index_select(0, padded_source()[0]) * std::sqrt(12.0) +
                 sinusoid_table(PositionKind::sinusoidal, 5, 12);
  const auto memory = model->encode(padded_source(), padding_mask(padded_source()));
  REQUIRE(torch::allclose(memory[0], at::layer_norm(x.to(torch::kFloat), {12}), 1e-3, 1e-4));
}

TEST_CASE("model: changing the future leaves the past bit for bit", "[numeric]") {
  for (const auto placement : {NormPlacement::post, NormPlacement::pre}) {
    for (const int64_t d_v : {5, 3}) {  // the fused kernel and PyTorch's composed one
      auto config = small_model();
      config.norm_placement = placement;
      config.d_v = d_v;
      auto model = initialised(config);
      const auto mask = padding_mask(padded_source());
      const auto memory = model->encode(padded_source(), mask);
      const auto before = model->decode(padded_target(), memory, mask);
      for (int64_t changed = 1; changed < 7; ++changed) {
        auto other = padded_target();
        other.narrow(1, changed, 7 - changed).add_(1);
        const auto after = model->decode(other, memory, mask);
        REQUIRE(after.narrow(1, 0, changed).equal(before.narrow(1, 0, changed)));
        REQUIRE_FALSE(after.select(1, changed).equal(before.select(1, changed)));
      }
    }
  }
}

TEST_CASE("model: padding adds nothing, on either side", "[numeric]") {
  for (const int64_t d_v : {5, 3}) {
    auto config = small_model();
    config.d_v = d_v;
    auto model = initialised(config);
    model->to(torch::kDouble);
    const auto both = model(padded_source(), padded_target());
    const auto alone = model(padded_source().narrow(0, 1, 1).narrow(1, 0, 3),
                             padded_target().narrow(0, 1, 1).narrow(1, 0, 3));
    REQUIRE(torch::allclose(both.narrow(0, 1, 1).narrow(1, 0, 3), alone, 1e-10, 1e-12));
  }
}

TEST_CASE("model: decoding by steps equals decoding at once", "[numeric]") {
  auto config = small_model();
  config.kv_heads = 2;
  for (const auto positions : kAllPositions) {
    // Each placement with two of them.
    config.norm_placement =
        config.norm_placement == NormPlacement::post ? NormPlacement::pre : NormPlacement::post;
    config.positions = positions;
    auto model = initialised(config);
    model->to(torch::kDouble);
    const auto mask = padding_mask(padded_source());
    const auto memory = model->encode(padded_source(), mask);
    const auto long_target = torch::randint(4, 17, {2, 19}, torch::kLong);  // the cache grows at 16
    const auto full = model->decode(long_target, memory, mask);
    auto cache = model->start(memory, mask);
    for (int64_t i = 0; i < 19; ++i) {
      REQUIRE(cache.length == i);
      REQUIRE(torch::allclose(model->step(long_target.select(1, i), cache), full.select(1, i), 1e-9,
                              1e-10));
    }
  }
}

TEST_CASE("decoder cache: rows are widened, reordered and dropped as the sentences they hold",
          "[numeric]") {
  auto model = initialised(small_model());
  model->to(torch::kDouble);
  const auto mask = padding_mask(padded_source());
  const auto memory = model->encode(padded_source(), mask);
  auto cache = model->start(memory, mask);
  model->step(torch::tensor({7, 6}), cache);
  cache.widen(3);
  // What each row has read so far, beside the cache.
  auto read = torch::tensor({7, 7, 7, 6, 6, 6}).unsqueeze(1);
  auto of_sentence = torch::tensor({0, 0, 0, 1, 1, 1});
  const auto step = [&](const torch::Tensor& tokens) {
    read = torch::cat({read, tokens.unsqueeze(1)}, 1);
    const auto full =
        model->decode(read, memory.index_select(0, of_sentence), mask.index_select(0, of_sentence));
    REQUIRE(torch::allclose(model->step(tokens, cache), full.select(1, -1), 1e-9, 1e-10));
  };
  const auto select = [&](const torch::Tensor& rows) {
    cache.select(rows);
    read = read.index_select(0, rows);
    of_sentence = of_sentence.index_select(0, rows);
  };
  step(torch::tensor({2, 2, 2, 2, 2, 2}));
  step(torch::tensor({5, 6, 7, 8, 9, 10}));
  select(torch::tensor({2, 0, 0, 3, 5, 4}));  // within each sentence
  step(torch::tensor({5, 6, 7, 8, 9, 10}));
  select(torch::tensor({4, 3, 3}));  // the first sentence is done
  step(torch::tensor({11, 12, 13}));
  select(torch::tensor({0, 1, 2}));
  step(torch::tensor({4, 4, 5}));
  REQUIRE(cache.rows == 3);
  REQUIRE(cache.layers[0].cross->keys.size(0) == 1);
  REQUIRE_THROWS(cache.select(torch::tensor({0, 1})));
}

TEST_CASE("model: training drops, evaluation does not", "[numeric]") {
  auto config = small_model();
  config.P_drop = 0.1;
  auto model = initialised(config);
  REQUIRE_FALSE(
      model(padded_source(), padded_target()).equal(model(padded_source(), padded_target())));
  model->eval();
  REQUIRE(model(padded_source(), padded_target()).equal(model(padded_source(), padded_target())));
}

TEST_CASE("model: a sentence longer than the learned positions is a user's error", "[numeric]") {
  auto config = small_model();
  config.positions = PositionKind::learned;  // 30
  auto model = initialised(config);
  const auto ids = torch::full({1, 31}, 5, torch::kLong);
  REQUIRE_THROWS_AS(model->encode(ids, padding_mask(ids)), UserError);
}

TEST_CASE("initialisation: Xavier uniform matrices, N(0, d_model^-0.5) embeddings", "[numeric]") {
  auto config = small_model();
  config.d_model = 64;
  config.d_ff = 300;
  config.V = config.source_V = 1000;
  config.N = 1;
  config.attention_bias = true;
  const auto model = initialised(config);
  const auto parameters = model->named_parameters();
  const auto& in = parameters["encoder.layers.0.feed_forward.in.weight"];
  const double bound = std::sqrt(6.0 / (64 + 300));
  REQUIRE(in.abs().max().item<double>() <= bound);
  REQUIRE(in.abs().max().item<double>() > 0.99 * bound);
  REQUIRE(in.std().item<double>() == Approx(bound / std::sqrt(3.0)).epsilon(0.02));
  const auto& q = parameters["decoder.layers.0.cross_attention.q.weight"];  // [20, 64]
  REQUIRE(q.abs().max().item<double>() == Approx(std::sqrt(6.0 / 84)).epsilon(0.02));

  const auto& embedding = parameters["embedding.weight"];
  REQUIRE(embedding.mean().item<double>() == Approx(0).margin(0.002));
  REQUIRE(embedding.std().item<double>() == Approx(1.0 / 8).epsilon(0.02));
  for (const auto& item : parameters) {
    if (item.key().ends_with("bias")) REQUIRE(item.value().count_nonzero().item<int64_t>() == 0);
    if (item.key().ends_with("norm.weight")) REQUIRE(item.value().eq(1).all().item<bool>());
  }
}

TEST_CASE("initialisation: the seed alone decides", "[numeric]") {
  torch::manual_seed(1);
  const auto first = initialised(small_model(), 5);
  torch::manual_seed(2);
  const auto again = initialised(small_model(), 5);
  const auto other = initialised(small_model(), 6);
  for (const auto& item : first->named_parameters()) {
    REQUIRE(again->named_parameters()[item.key()].equal(item.value()));
  }
  REQUIRE_FALSE(other->output_weight().equal(first->output_weight()));
}

TEST_CASE("model: without padding it computes the same, values and gradients", "[numeric]") {
  auto config = small_model();
  for (const auto placement : {NormPlacement::post, NormPlacement::pre}) {
    for (const auto positions : kAllPositions) {
      for (const bool tied : {true, false}) {
        config.norm_placement = placement;
        config.positions = positions;
        config.tie_embeddings = tied;
        config.attention_bias = tied;
        const auto padded = training_pass(config, padded_source(), padded_target(), false);
        const auto packed = training_pass(config, padded_source(), padded_target(), true);
        for (const auto& [name, want] : padded) {
          INFO(name);
          REQUIRE(packed.at(name).layout() == torch::kStrided);
          REQUIRE(torch::allclose(packed.at(name), want, 1e-4, 1e-5));
        }
      }
    }
  }
}
