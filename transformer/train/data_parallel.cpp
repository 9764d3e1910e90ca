#include "transformer/train/data_parallel.h"

#include <torch/torch.h>

#include "transformer/train/ranks_group.h"

namespace transformer {

Ranks::Ranks() = default;
Ranks::~Ranks() = default;

Ranks::Ranks(const Rendezvous& place, const torch::Device& device, std::chrono::seconds timeout,
             const std::function<void(const std::string&)>& on_lost)
    : group_(connect_ranks(place, device, timeout, on_lost)) {}

int64_t Ranks::rank() const { return group_ ? group_->rank() : 0; }
int64_t Ranks::size() const { return group_ ? group_->size() : 1; }

void Ranks::at_step(int64_t step) {
  if (group_) group_->at_step(step);
}

std::string Ranks::word_of_first(const std::string& text) {
  return group_ ? group_->word_of_first(text) : text;
}

void Ranks::take_from_first(const std::vector<torch::Tensor>& tensors) {
  if (group_) group_->take_from_first(tensors);
}

void Ranks::share_gradients(const std::vector<torch::Tensor>& parameters) {
  if (group_) group_->share_gradients(parameters);
}

void Ranks::backward(const torch::Tensor& loss, bool is_last) {
  group_ ? group_->backward(loss, is_last) : loss.backward();
}

void Ranks::sum(torch::Tensor& values) {
  if (group_) group_->sum(values);
}

std::vector<double> Ranks::sum(const std::vector<double>& values) {
  auto sums = torch::tensor(values, torch::kFloat64);
  sum(sums);
  return {sums.const_data_ptr<double>(), sums.const_data_ptr<double>() + sums.numel()};
}

bool Ranks::any(bool value) { return sum({value ? 1.0 : 0.0}).front() > 0; }

void Ranks::meet() {
  if (group_) group_->meet();
}

void Ranks::leave() {
  if (group_) group_->leave();
}

}  // namespace transformer
