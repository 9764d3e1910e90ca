#include "tools/commands/bench_steps.h"

#include <torch/torch.h>

#include "transformer/nn/init.h"
#include "transformer/train/step.h"

namespace transformer {

BenchSteps::BenchSteps(const Config& config, const torch::Device& device)
    : config_(config), device_(device), model_(config.model) {
  initialise(*model_, config.training.seed);
  model_->to(device);
  model_->train();
  for (const auto& parameter : model_->named_parameters()) {
    parameters_.emplace_back(parameter.key(), parameter.value());
  }
  optimizer_.emplace(parameters_, config.training);
}

void BenchSteps::step(const Batch& batch) {
  gradients_of(model_, {batch}, nullptr, config_.training, ++steps_, device_);
  gradient_norm(parameters_);
  optimizer_->step(1e-4);
  if (device_.is_cuda()) torch::cuda::synchronize();
}

}  // namespace transformer
