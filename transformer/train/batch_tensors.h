#pragma once

#include <torch/types.h>

#include "transformer/data/batches.h"

namespace transformer {

// A batch on a device, all int64 and padded with kPad.
struct BatchTensors {
  torch::Tensor source;         // [batch, source_time]
  torch::Tensor target_input;   // [batch, target_time]
  torch::Tensor target_output;  // [batch, target_time]
};

BatchTensors to_device(const Batch& batch, const torch::Device& device);

// [rows.size(), longest] int64, padded with kPad at the right.
torch::Tensor padded(const std::vector<std::vector<int32_t>>& rows, const torch::Device& device);

}  // namespace transformer
