#include "tests/nn/choices.h"

#include <c10/core/InferenceMode.h>
#include <torch/torch.h>

#include "tests/catch.h"
#include "tests/nn/passes.h"
#include "tests/temporary_folder.h"
#include "transformer/train/state.h"

using namespace transformer;

namespace {

// Step by step, after `model` has read the source.
void require_same_by_steps_of(Transformer& model, double tolerance) {
  const auto mask = padding_mask(padded_source());
  const auto memory = model->encode(padded_source(), mask);
  const auto tokens = tokens_by_steps();
  require_same_by_steps(model, tokens, model->decode(tokens, memory, mask),
                        model->start(memory, mask), tolerance);
}

}  // namespace

TEST_CASE("choices: decoding by steps equals decoding at once", "[numeric]") {
  for (const auto& [name, config] : each_choice()) {
    INFO(name);
    auto model = initialised(config);
    model->eval();
    {
      const c10::InferenceMode inference;  // with the kernels
      require_same_by_steps_of(model, 1e-4);
    }
    model->to(torch::kDouble);
    require_same_by_steps_of(model, 1e-9);
  }
}

TEST_CASE("choices: without padding they compute the same, values and gradients", "[numeric]") {
  for (const auto& [name, config] : each_choice()) {
    INFO(name);
    require_same_without_padding(config, padded_source(), padded_target());
  }
}

TEST_CASE("choices: padding adds nothing, and the future does not reach the past", "[numeric]") {
  for (const auto& [name, config] : each_choice()) {
    INFO(name);
    auto model = initialised(config);
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
    require_counted_as_built(config, padded_source(), padded_target());
  }
}

TEST_CASE("choices: a model is what its file holds", "[numeric]") {
  const TemporaryFolder folder;
  for (const auto& [name, config] : each_choice()) {
    INFO(name);
    auto model = initialised(config);
    auto other = initialised(config, 2);
    write_state(folder / "m.safetensors", state_of(*model), {});
    State weights = state_of(*other);
    assign(read_state(folder / "m.safetensors").state, weights, "m");
    model->eval();
    other->eval();
    REQUIRE(other(padded_source(), padded_target()).equal(model(padded_source(), padded_target())));
  }
  const auto state = state_of(*initialised(each_choice()[13].second));  // today's
  REQUIRE(state.contains("decoder.layers.1.feed_forward.gate.weight"));
  REQUIRE(state.contains("decoder.layers.1.feed_forward.gate.bias"));
  REQUIRE(state.contains("encoder.norm.weight"));
  REQUIRE_FALSE(state.contains("encoder.norm.bias"));
}
