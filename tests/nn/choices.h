#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tests/nn/configs.h"

namespace transformer {

// A small model with each of today's choices alone, and with those of today's models together.
inline std::vector<std::pair<std::string, ModelConfig>> each_choice() {
  Config config;
  config.model = small_model();
  config.model.d_k = 6;  // rope turns pairs of columns
  std::vector<std::pair<std::string, ModelConfig>> all;
  const auto add = [&](const std::string& name, const std::vector<std::string>& set) {
    Config changed = config;
    override_config(changed, set);
    all.emplace_back(name, resolve(changed).model);
  };
  const std::string keys[] = {"norm=rms",
                              "positions=rope",
                              "positions=alibi",
                              "feed_forward=gelu",
                              "feed_forward=swiglu",
                              "feed_forward=geglu",
                              "kv_heads=2",
                              "kv_heads=1",
                              "norm_placement=pre",
                              "norm_placement=b2t",
                              "norm_placement=deepnorm",
                              "attention_drop=0.5",
                              "activation_drop=0.5"};
  for (const auto& key : keys) add(key, {"model." + key});
  add("today",
      {"model.norm_placement=pre", "model.norm=rms", "model.positions=rope",
       "model.feed_forward=swiglu", "model.feed_forward_width=matched", "model.kv_heads=2"});
  add("today, alibi", {"model.norm_placement=pre", "model.norm=rms", "model.positions=alibi",
                       "model.feed_forward=geglu", "model.kv_heads=1"});
  return all;
}

}  // namespace transformer
