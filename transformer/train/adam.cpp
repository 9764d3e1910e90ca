#include "transformer/train/adam.h"

#include <ATen/record_function.h>
#include <torch/torch.h>

namespace transformer {

Adam::Adam(Parameters parameters, const TrainingConfig& training)
    : parameters_(std::move(parameters)),
      beta1_(training.beta1),
      beta2_(training.beta2),
      epsilon_(training.epsilon) {
  for (const auto& [name, parameter] : parameters_) {
    first_moments_.push_back(torch::zeros_like(parameter));
    second_moments_.push_back(torch::zeros_like(parameter));
    steps_.push_back(torch::zeros({}, parameter.options().dtype(torch::kFloat32)));
  }
}

void Adam::step(double learning_rate) {
  RECORD_USER_SCOPE("optimizer");
  torch::NoGradGuard no_gradient;
  std::vector<torch::Tensor> weights;
  std::vector<torch::Tensor> gradients;
  for (const auto& [name, parameter] : parameters_) {
    TORCH_CHECK(parameter.grad().defined(), "Adam: ", name, " has no gradient");
    weights.push_back(parameter);
    gradients.push_back(parameter.grad());
  }
  torch::_foreach_add_(steps_, 1);
  at::_fused_adam_(weights, gradients, first_moments_, second_moments_, {}, steps_, learning_rate,
                   beta1_, beta2_, /*weight_decay=*/0.0, epsilon_, /*amsgrad=*/false,
                   /*maximize=*/false);
}

State Adam::state() const {
  State state;
  for (size_t i = 0; i < parameters_.size(); ++i) {
    state["first_moment." + parameters_[i].first] = first_moments_[i];
    state["second_moment." + parameters_[i].first] = second_moments_[i];
  }
  if (!steps_.empty()) state["steps"] = steps_.front();
  return state;
}

void Adam::load(const State& state, const std::string& where) {
  State own = this->state();
  assign(state, own, where);
  for (auto& steps : steps_) steps.copy_(own.at("steps"));
}

}  // namespace transformer
