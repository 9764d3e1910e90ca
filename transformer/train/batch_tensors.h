#pragma once

#include <torch/types.h>

#include "transformer/data/batches.h"
#include "transformer/nn/model.h"

namespace transformer {

// A batch on a device as its model reads it (data/task.h), all int64 and padded with kPad.
struct BatchTensors {
  torch::Tensor source;         // [batch, source_time]; of width 0 where no source is read
  torch::Tensor target_input;   // [batch, target_time]
  torch::Tensor target_output;  // [batch, target_time]
};

BatchTensors to_device(const Batch& batch, const torch::Device& device);

// What the model makes of a batch, row by row with what each row should predict.
struct Hidden {
  torch::Tensor rows;     // [..., d_model], what the output projection takes
  torch::Tensor targets;  // [...] int64, kPad where there is none
};
// Without padding wherever the model has kernels for that.
Hidden hidden_of(Transformer& model, const BatchTensors& batch);

// [rows.size(), longest] int64, padded with kPad at the right.
torch::Tensor padded(const std::vector<std::vector<int32_t>>& rows, const torch::Device& device);

}  // namespace transformer
