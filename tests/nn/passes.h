#pragma once

// A model run in the ways that must agree.

#include <torch/torch.h>

#include <map>
#include <string>

#include "tests/catch.h"
#include "transformer/analysis/parameters.h"
#include "transformer/analysis/tensor_shapes.h"
#include "transformer/nn/init.h"
#include "transformer/nn/model.h"

namespace transformer {

inline Transformer initialised(const ModelConfig& config, int64_t seed = 1) {
  Transformer model(config);
  initialise(*model, seed);
  return model;
}

// Two sentences, the second padded.
inline torch::Tensor padded_source() { return torch::tensor({{5, 9, 4, 16, 3}, {8, 6, 3, 0, 0}}); }
inline torch::Tensor padded_target() {
  return torch::tensor({{2, 10, 7, 7, 12, 15, 4}, {2, 11, 5, 0, 0, 0, 0}});
}

// Hidden states at the target's real positions and the gradients of one training pass.
inline std::map<std::string, torch::Tensor> training_pass(const ModelConfig& config,
                                                          const torch::Tensor& source,
                                                          const torch::Tensor& target,
                                                          bool is_packed) {
  auto model = initialised(config);
  const auto hidden = is_packed ? model->hidden_packed(pack(source), pack(target))
                                : model->pass(source, target).hidden.index({target.ne(0)});
  const auto logits = hidden.matmul(model->output_weight().t());
  (logits * torch::linspace(-1, 1, logits.numel()).view_as(logits)).sum().backward();
  std::map<std::string, torch::Tensor> results{{"hidden", hidden.detach()}};
  for (const auto& parameter : model->named_parameters()) {
    results[parameter.key()] = parameter.value().grad();
  }
  return results;
}

inline void require_same_without_padding(ModelConfig config, const torch::Tensor& source,
                                         const torch::Tensor& target) {
  config.attention_drop = config.activation_drop = 0;  // drawn in another order
  const auto packed = training_pass(config, source, target, true);
  for (const auto& [tensor, want] : training_pass(config, source, target, false)) {
    INFO(tensor);
    REQUIRE(torch::allclose(packed.at(tensor), want, 1e-4, 1e-5));
  }
}

// 19 positions of two sentences: the cache grows at 16.
inline torch::Tensor tokens_by_steps() { return torch::randint(4, 17, {2, 19}, torch::kLong); }

// whole: the hidden states of all of `tokens` at once. cache: before the first of them.
inline void require_same_by_steps(Transformer& model, const torch::Tensor& tokens,
                                  const torch::Tensor& whole, DecoderCache cache,
                                  double tolerance) {
  for (int64_t i = 0; i < tokens.size(1); ++i) {
    INFO("position " << i);
    REQUIRE(torch::allclose(model->step(tokens.select(1, i), cache), whole.select(1, i), tolerance,
                            tolerance));
  }
}

inline void require_counted_as_built(const ModelConfig& config, const torch::Tensor& source,
                                     const torch::Tensor& target) {
  auto model = initialised(config);
  int64_t built = 0, walked = 0;
  for (const auto& parameter : model->parameters()) built += parameter.numel();
  for (const auto& each : tensor_shapes(model, source, target)) walked += each.parameters;
  REQUIRE(count_parameters(config).total() == built);
  REQUIRE(walked == built);
}

}  // namespace transformer
