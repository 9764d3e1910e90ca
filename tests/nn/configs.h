#pragma once

#include "transformer/config.h"

namespace transformer {

// A small model whose sizes all differ.
inline ModelConfig small_model() {
  Config config;
  config.model.N = 2;
  config.model.d_model = 12;
  config.model.d_ff = 20;
  config.model.h = 4;
  config.model.d_k = 5;
  config.model.d_v = 3;
  config.model.P_drop = 0.0;
  config.model.max_positions = 30;
  config.model.V = 17;
  return resolve(config).model;
}

}  // namespace transformer
