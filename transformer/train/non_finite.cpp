#include "transformer/train/non_finite.h"

#include <torch/torch.h>

#include <cmath>

namespace transformer {

namespace {

// Keeps the first finding of all that it is shown.
class Finder {
 public:
  void look(const std::string& layer, const std::string& tensor, const torch::Tensor& values) {
    if (found_ || !values.defined()) return;
    torch::NoGradGuard no_gradient;
    const int64_t count = values.numel() - torch::isfinite(values).sum().item<int64_t>();
    if (count > 0) found_ = {layer, tensor, count, values.numel()};
  }

  // And again at its gradient, once that is there.
  void look_both_ways(const std::string& layer, const std::string& tensor,
                      const torch::Tensor& values) {
    look(layer, tensor, values);
    if (!values.requires_grad()) return;
    values.register_hook([this, layer, tensor](const torch::Tensor& gradient) {
      look(layer, "gradient of " + tensor, gradient);
    });
  }

  const std::optional<NonFinite>& found() const { return found_; }

 private:
  std::optional<NonFinite> found_;
};

// Shows the finder every residual connection of a model while it lives.
class Onlooker {
 public:
  Onlooker(Transformer& model, Finder& finder) : model_(model) {
    constexpr std::string_view kEnding = "_residual";
    for (const auto& item : model_->named_modules()) {
      auto* residual = item.value()->as<ResidualImpl>();
      if (residual == nullptr) continue;
      const std::string layer = item.key().substr(0, item.key().size() - kEnding.size());
      residual->observe([&finder, layer](const ResidualPass& pass) {
        finder.look_both_ways(layer, "input", pass.trunk);
        if (!pass.input.is_same(pass.trunk)) {
          finder.look_both_ways(layer, "normalized input", pass.input);
        }
        finder.look_both_ways(layer, "what the sublayer returns", pass.branch);
        finder.look(layer, "output", pass.output);  // its gradient is the next one's input's
      });
    }
  }
  ~Onlooker() {
    for (const auto& module : model_->modules()) {
      if (auto* residual = module->as<ResidualImpl>()) residual->observe(nullptr);
    }
  }
  Onlooker(const Onlooker&) = delete;
  Onlooker& operator=(const Onlooker&) = delete;

 private:
  Transformer model_;
};

}  // namespace

std::string NonFinite::text() const {
  return layer + ": " + tensor + ": " + std::to_string(values) + " of " + std::to_string(of) +
         " values";
}

std::optional<NonFinite> first_non_finite(Transformer& model, const std::vector<Batch>& batches,
                                          const Corpus* corpus, const TrainingConfig& training,
                                          int64_t step, const torch::Device& device,
                                          const StepShare& share) {
  Finder finder;
  for (const auto& parameter : model->named_parameters()) {
    finder.look(parameter.key(), "weight", parameter.value());
  }
  StepSums sums;
  {
    const Onlooker onlooker(model, finder);
    sums = gradients_of(model, batches, corpus, training, step, device, share);
  }
  if (!std::isfinite(sums.smoothed)) {
    finder.look("output projection", "loss", torch::tensor(sums.smoothed));
  } else {
    for (const auto& parameter : model->named_parameters()) {
      finder.look(parameter.key(), "gradient", parameter.value().grad());
    }
    for (const auto& parameter : model->named_parameters()) {
      finder.look(parameter.key(), "norm of the gradient", parameter.value().grad().norm());
    }
  }
  return finder.found();
}

}  // namespace transformer
