#include "transformer/train/step.h"

#include <torch/torch.h>

#include <cmath>

#include "transformer/random.h"
#include "transformer/train/batch_tensors.h"
#include "transformer/train/loss.h"
#include "transformer/train/precision.h"

namespace transformer {

StepSums gradients_of(Transformer& model, const std::vector<Batch>& batches, const Corpus* corpus,
                      const TrainingConfig& training, int64_t step, const torch::Device& device) {
  const ProductPrecision products(training.precision, device);
  StepSums sums;
  for (const auto& batch : batches) {
    sums.source_tokens += batch.source_tokens;
    sums.target_tokens += batch.target_tokens;
  }
  const double mean = 1.0 / static_cast<double>(sums.target_tokens);
  model->zero_grad();
  for (size_t i = 0; i < batches.size(); ++i) {
    const int64_t draw = step * training.accumulate + static_cast<int64_t>(i);
    torch::manual_seed(stream_seed(training.seed, "dropout", draw));
    const bool is_outline = corpus != nullptr && batches[i].source.empty();
    const auto hidden = hidden_of(
        model, to_device(is_outline ? make_batch(*corpus, batches[i].rows) : batches[i], device));
    const auto loss =
        smoothed_loss(hidden.rows, model->output_weight(), hidden.targets, training.eps_ls, mean);
    sums.smoothed += loss.smoothed.item<double>() / mean;
    sums.nll += loss.nll.item<double>();
    if (!std::isfinite(sums.smoothed)) return sums;
    loss.smoothed.backward();
  }
  return sums;
}

double gradient_norm(const Adam::Parameters& parameters) {
  std::vector<torch::Tensor> gradients;
  for (const auto& [name, parameter] : parameters) gradients.push_back(parameter.grad());
  return torch::stack(torch::_foreach_norm(gradients, 2)).norm().item<double>();
}

}  // namespace transformer
