#pragma once

#include <torch/types.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "transformer/config.h"
#include "transformer/train/state.h"

namespace transformer {

// Adam (Kingma and Ba 2015) with bias correction, as torch::optim::Adam without weight decay, in
// LibTorch's fused kernel: one pass over weight, gradient and both moments.
class Adam {
 public:
  using Parameters = std::vector<std::pair<std::string, torch::Tensor>>;  // by name

  Adam(Parameters parameters, const TrainingConfig& training);

  // Uses and keeps the gradients; every parameter must have one.
  void step(double learning_rate);

  // "first_moment.NAME", "second_moment.NAME" and "steps".
  State state() const;
  // Throws UserError where names or shapes do not fit.
  void load(const State& state, const std::string& where);

 private:
  Parameters parameters_;
  std::vector<torch::Tensor> first_moments_;
  std::vector<torch::Tensor> second_moments_;
  std::vector<torch::Tensor> steps_;  // one a parameter, as the kernel wants them
  double beta1_;
  double beta2_;
  double epsilon_;
};

}  // namespace transformer
