#include "transformer/train/non_finite.h"

#include <torch/torch.h>

#include "tests/catch.h"
#include "tests/nn/configs.h"
#include "tests/temporary_folder.h"
#include "transformer/data/tokenizer.h"
#include "transformer/error.h"
#include "transformer/nn/init.h"
#include "transformer/train/step_dump.h"

using namespace transformer;
using Catch::Matchers::Contains;

namespace {

constexpr int64_t kStep = 7;

Config small_config() {
  Config config;
  config.model = small_model();
  config.model.P_drop = 0.2;
  return resolve(config);
}

Transformer small_transformer(const Config& config) {
  Transformer model(config.model);
  initialise(*model, 3);
  model->train();
  return model;
}

// Two sentences, the second one shorter.
Batch small_batch() {
  return {.sentences = 2,
          .source_length = 4,
          .target_length = 3,
          .source = {9, 10, 11, kEos, 12, kEos, kPad, kPad},
          .target_input = {kBos, 5, 6, kBos, 7, kPad},
          .target_output = {5, 6, kEos, 7, kEos, kPad},
          .source_tokens = 6,
          .target_tokens = 5,
          .rows = {41, 8}};
}

torch::Tensor weight(Transformer& model, const std::string& name) {
  return *model->named_parameters().find(name);
}

std::optional<NonFinite> look(Transformer& model, const Config& config) {
  return first_non_finite(model, {small_batch()}, nullptr, config.training, kStep, torch::kCPU);
}

}  // namespace

TEST_CASE("non-finite: a step in order has none, and looking on changes no gradient", "[numeric]") {
  const Config config = small_config();
  auto model = small_transformer(config);
  gradients_of(model, {small_batch()}, nullptr, config.training, kStep, torch::kCPU);
  const auto before = weight(model, "encoder.layers.1.feed_forward.in.weight").grad().clone();
  REQUIRE_FALSE(look(model, config));
  REQUIRE(torch::equal(weight(model, "encoder.layers.1.feed_forward.in.weight").grad(), before));
}

TEST_CASE("non-finite: a weight is named with its count", "[numeric]") {
  const Config config = small_config();
  auto model = small_transformer(config);
  torch::NoGradGuard no_gradient;
  weight(model, "encoder.layers.1.feed_forward.in.weight").view(-1).slice(0, 4, 6).fill_(NAN);
  torch::AutoGradMode with_gradient(true);
  REQUIRE(look(model, config)->text() ==
          "encoder.layers.1.feed_forward.in.weight: weight: 2 of 240 values");
}

TEST_CASE("non-finite: the sublayer in which the forward pass overflows is the one named",
          "[numeric]") {
  for (const auto placement : {NormPlacement::post, NormPlacement::pre}) {
    for (const std::string layer :
         {"encoder.layers.0.self_attention", "decoder.layers.1.cross_attention"}) {
      Config config = small_config();
      config.model.norm_placement = placement;
      auto model = small_transformer(config);
      for (const char* projection : {".v.weight", ".o.weight"}) {
        weight(model, layer + projection).data().mul_(1e25);  // each finite, their product not
      }
      const auto found = look(model, config);
      REQUIRE(found);
      REQUIRE(found->layer == layer);
      REQUIRE(found->tensor == "what the sublayer returns");
      REQUIRE(found->values > 0);
    }
  }
}

TEST_CASE("non-finite: a gradient that overflows is named where it did", "[numeric]") {
  const Config config = small_config();
  auto model = small_transformer(config);
  // Forward the tiny first matrix makes up for the huge second one; backwards it comes too late.
  const std::string layer = "decoder.layers.0.feed_forward";
  weight(model, layer + ".in.weight").data().mul_(1e-36);
  weight(model, layer + ".out.weight").data().mul_(1e36);
  const auto norm = look(model, config);
  REQUIRE(norm);
  REQUIRE(norm->text() == layer + ".in.weight: norm of the gradient: 1 of 1 values");

  // A gain after the last sublayer makes the gradient itself too large.
  const std::string last = "decoder.layers.1.feed_forward";
  auto steep = small_transformer(config);
  weight(steep, last + ".in.weight").data().mul_(1e-36);
  weight(steep, last + ".out.weight").data().sign_().mul_(3e38);
  weight(steep, last + "_residual.norm.weight").data().mul_(1e6);
  const auto gradient = look(steep, config);
  REQUIRE(gradient);
  REQUIRE_THAT(gradient->layer, Contains(last));
  REQUIRE_THAT(gradient->tensor, Contains("gradient") && !Contains("norm"));
}

TEST_CASE("step dump: what is read back gives the same finding", "[numeric]") {
  const TemporaryFolder folder;
  const Config config = small_config();
  auto model = small_transformer(config);
  weight(model, "decoder.layers.0.self_attention.v.weight").data().mul_(1e25);
  weight(model, "decoder.layers.0.self_attention.o.weight").data().mul_(1e25);
  const auto found = look(model, config);
  REQUIRE(found);
  const auto file = folder / "dump.safetensors";
  write_dump(file, {config, "v", kStep, 1, found->text(), state_of(*model), {small_batch()}});
  const StepDump dump = read_dump(file);
  REQUIRE(dump.config == config);
  REQUIRE(dump.finding == found->text());
  const Batch want = small_batch();
  REQUIRE(dump.batches.size() == 1);
  REQUIRE(dump.batches[0].rows == want.rows);
  REQUIRE(dump.batches[0].source == want.source);
  REQUIRE(dump.batches[0].target_input == want.target_input);
  REQUIRE(dump.batches[0].source_tokens == want.source_tokens);
  REQUIRE(dump.batches[0].target_tokens == want.target_tokens);
  Transformer again(dump.config.model);
  State weights = state_of(*again);
  assign(dump.model, weights, "dump");
  again->train();
  REQUIRE(
      first_non_finite(again, dump.batches, nullptr, dump.config.training, dump.step, torch::kCPU)
          ->text() == dump.finding);
}

TEST_CASE("step dump: one that is no dump, or whose batch cannot be, is refused", "[numeric]") {
  const TemporaryFolder folder;
  const Config config = small_config();
  auto model = small_transformer(config);
  const auto file = folder / "dump.safetensors";
  const auto refused = [&](const std::function<void(Batch&)>& change, const char* message) {
    Batch batch = small_batch();
    change(batch);
    write_dump(file, {config, "v", kStep, 1, "x", state_of(*model), {batch}});
    REQUIRE_THROWS_WITH(read_dump(file), Contains(message));
  };
  refused([](Batch& batch) { batch.source[0] = 17; }, "word-pieces that the vocabulary has not");
  refused([](Batch& batch) { batch.target_output[1] = -1; }, "that the vocabulary has not");
  refused([](Batch& batch) { batch.source[4] = kPad; }, "padded elsewhere than at their ends");
  refused([](Batch& batch) { batch.target_input[1] = kPad; }, "padded elsewhere");
  refused([](Batch& batch) { batch.target_output[5] = 9; }, "padded elsewhere");
  write_dump(file, {config, "v", kStep, 1, "x", state_of(*model), {small_batch()}});
  auto wider = read_state(file);
  auto& input = wider.state.at("batch.0.target_input");
  input = torch::constant_pad_nd(input, {0, 1}, kPad);
  write_state(file, wider.state, wider.metadata);
  REQUIRE_THROWS_WITH(read_dump(file), Contains("target_input is not as long as"));
  write_state(file, {{"model.w", torch::ones({1})}}, {{"config", "{}"}});
  REQUIRE_THROWS_WITH(read_dump(file), Contains("does not state model.V"));
}
