#pragma once

#include <torch/types.h>

#include <optional>

#include "transformer/config.h"
#include "transformer/data/batches.h"
#include "transformer/nn/model.h"
#include "transformer/train/adam.h"

namespace transformer {

// Training steps as the trainer makes them, on batches that are given.
class BenchSteps {
 public:
  BenchSteps(const Config& config, const torch::Device& device);
  void step(const Batch& batch);  // gradients, their norm, Adam; waits for the device
  Transformer& model() { return model_; }

 private:
  const Config config_;
  const torch::Device device_;
  Transformer model_;
  Adam::Parameters parameters_;
  std::optional<Adam> optimizer_;
  int64_t steps_ = 0;
};

}  // namespace transformer
