#include "tests/nn/choices.h"

#include <c10/core/InferenceMode.h>
#include <torch/torch.h>

#include <map>

#include "tests/catch.h"
#include "tests/temporary_folder.h"
#include "transformer/analysis/parameters.h"
#include "transformer/analysis/tensor_shapes.h"
#include "transformer/nn/init.h"
#include "transformer/train/state.h"

using namespace transformer;

namespace {

Transformer choice_model(const ModelConfig& config, int64_t seed = 1) {
  Transformer model(config);
  initialise(*model, seed);
  return model;
}

// Two sentences, the second padded.
torch::Tensor padded_source() { return torch::tensor({{5, 9, 4, 16, 3}, {8, 6, 3, 0, 0}}); }
torch::Tensor padded_target() {
  return torch::tensor({{2, 10, 7, 7, 12, 15, 4}, {2, 11, 5, 0, 0, 0, 0}});
}

// Step by step, after `model` has read the source.
void require_same_by_steps(Transformer& model, double tolerance) {
  const auto mask = padding_mask(padded_source());
  const auto memory = model->encode(padded_source(), mask);
  const auto tokens = torch::randint(4, 17, {2, 19}, torch::kLong);  // the cache grows at 16
  const auto full = model->decode(tokens, memory, mask);
  auto cache = model->start(memory, mask);
  for (int64_t i = 0; i < 19; ++i) {
    REQUIRE(torch::allclose(model->step(tokens.select(1, i), cache), full.select(1, i), tolerance,
                            tolerance));
  }
}

// Hidden states and gradients of one training pass.
std::map<std::string, torch::Tensor> training_pass(const ModelConfig& config, bool is_packed) {
  auto model = choice_model(config);
  torch::Tensor hidden;
  if (is_packed) {
    hidden = model->hidden_packed(pack(padded_source()), pack(padded_target()));
  } else {
    const auto mask = padding_mask(padded_source());
    hidden = model->decode(padded_target(), model->encode(padded_source(), mask), mask)
                 .index({padded_target().ne(0)});
  }
  const auto logits = hidden.matmul(model->output_weight().t());
  (logits * torch::linspace(-1, 1, logits.numel()).view_as(logits)).sum().backward();
  std::map<std::string, torch::Tensor> results{{"hidden", hidden.detach()}};
  for (const auto& parameter : model->named_parameters()) {
    results[parameter.key()] = parameter.value().grad();
  }
  return results;
}

}  // namespace

TEST_CASE("choices: decoding by steps equals decoding at once", "[numeric]") {
  for (const auto& [name, config] : each_choice()) {
    INFO(name);
    auto model = choice_model(config);
    model->eval();
    {
      const c10::InferenceMode inference;  // with the kernels
      require_same_by_steps(model, 1e-4);
    }
    model->to(torch::kDouble);
    require_same_by_steps(model, 1e-9);
  }
}

TEST_CASE("choices: without padding they compute the same, values and gradients", "[numeric]") {
  for (auto [name, config] : each_choice()) {
    INFO(name);
    config.attention_drop = config.activation_drop = 0;  // drawn in another order
    const auto packed = training_pass(config, true);
    for (const auto& [tensor, want] : training_pass(config, false)) {
      INFO(tensor);
      REQUIRE(torch::allclose(packed.at(tensor), want, 1e-4, 1e-5));
    }
  }
}

TEST_CASE("choices: padding adds nothing, and the future does not reach the past", "[numeric]") {
  for (const auto& [name, config] : each_choice()) {
    INFO(name);
    auto model = choice_model(config);
    model->eval();
    model->to(torch::kDouble);
    const auto both = model(padded_source(), padded_target());
    const auto alone = model(padded_source().narrow(0, 1, 1).narrow(1, 0, 3),
                             padded_target().narrow(0, 1, 1).narrow(1, 0, 3));
    REQUIRE(torch::allclose(both.narrow(0, 1, 1).narrow(1, 0, 3), alone, 1e-10, 1e-12));
    auto other = padded_target();
    other.narrow(1, 4, 3).add_(1);
    const auto changed = model(padded_source(), other);
    REQUIRE(torch::allclose(changed.narrow(1, 0, 4), both.narrow(1, 0, 4), 1e-10, 1e-12));
    REQUIRE_FALSE(torch::allclose(changed.select(1, 4), both.select(1, 4)));
  }
}

TEST_CASE("choices: parameters and shapes are counted as they are built", "[numeric]") {
  for (const auto& [name, config] : each_choice()) {
    INFO(name);
    auto model = choice_model(config);
    int64_t built = 0, walked = 0;
    for (const auto& parameter : model->parameters()) built += parameter.numel();
    for (const auto& each : tensor_shapes(model, padded_source(), padded_target()))
      walked += each.parameters;
    REQUIRE(count_parameters(config).total() == built);
    REQUIRE(walked == built);
  }
}

TEST_CASE("choices: a model is what its file holds", "[numeric]") {
  const TemporaryFolder folder;
  for (const auto& [name, config] : each_choice()) {
    INFO(name);
    auto model = choice_model(config);
    auto other = choice_model(config, 2);
    write_state(folder / "m.safetensors", state_of(*model), {});
    State weights = state_of(*other);
    assign(read_state(folder / "m.safetensors").state, weights, "m");
    model->eval();
    other->eval();
    REQUIRE(other(padded_source(), padded_target()).equal(model(padded_source(), padded_target())));
  }
  const auto state = state_of(*choice_model(each_choice()[13].second));  // today's
  REQUIRE(state.contains("decoder.layers.1.feed_forward.gate.weight"));
  REQUIRE(state.contains("decoder.layers.1.feed_forward.gate.bias"));
  REQUIRE(state.contains("encoder.norm.weight"));
  REQUIRE_FALSE(state.contains("encoder.norm.bias"));
}
