#pragma once

#include <torch/types.h>

#include <memory>

#include "transformer/nn/masks.h"

namespace transformer {

// A batch without its padding: what is computed position by position then costs nothing for it.
struct Packed {
  torch::Tensor ids;                     // [tokens] int64
  torch::Tensor positions;               // [tokens] int64, where each stands in its sentence
  std::shared_ptr<const Starts> starts;  // of the sentences among the tokens
};

// ids: [batch, time] int64, padded at the right. On the ids' device.
Packed pack(const torch::Tensor& ids, int64_t padding = 0);

// Whether there are kernels for packed batches of a model with weights like this one. They have no
// attention dropout.
bool can_pack(const torch::Tensor& weight);

}  // namespace transformer
