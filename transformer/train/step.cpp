#include "transformer/train/step.h"

#include <torch/torch.h>

#include <cmath>

#include "transformer/data/task.h"
#include "transformer/random.h"
#include "transformer/train/batch_tensors.h"
#include "transformer/train/data_parallel.h"
#include "transformer/train/loss.h"
#include "transformer/train/precision.h"

namespace transformer {

namespace {

// The dropout of the i-th batch of a step: a stream for each rank.
uint64_t dropout_seed(const TrainingConfig& training, int64_t step, size_t i, int64_t rank) {
  const std::string purpose = rank == 0 ? "dropout" : "dropout of rank " + std::to_string(rank);
  return stream_seed(training.seed, purpose, step * training.accumulate + static_cast<int64_t>(i));
}

// A loss without a sentence: every gradient is there, and 0.
torch::Tensor no_loss(const Transformer& model) {
  auto sum = torch::zeros({});
  for (const auto& parameter : model->parameters()) {
    sum = sum + 0 * parameter.view(-1)[0].to(torch::kCPU);
  }
  return sum;
}

}  // namespace

StepShare step_share(Family family, const std::vector<Batch>& batches, int64_t rank,
                     int64_t ranks) {
  if (ranks == 1) return {};
  StepShare share{.rank = rank};
  for (const auto& batch : batches) share.predicted += predicted_tokens(family, batch);
  return share;
}

StepSums gradients_of(Transformer& model, const std::vector<Batch>& batches, const Corpus* corpus,
                      const TrainingConfig& training, int64_t step, const torch::Device& device,
                      const StepShare& share, Ranks* ranks) {
  const ProductPrecision products(training.precision, device);
  const auto& config = model->config();
  StepSums sums;
  for (const auto& batch : batches) {
    if (reads_source(config.family)) sums.source_tokens += batch.source_tokens;
    sums.target_tokens += batch.target_tokens;
    sums.predicted += predicted_tokens(config.family, batch);
  }
  const double mean =
      1.0 / static_cast<double>(share.predicted > 0 ? share.predicted : sums.predicted);
  const bool others_wait = ranks != nullptr && ranks->size() > 1;
  const auto backward = [&](const torch::Tensor& loss, bool is_last) {
    others_wait ? ranks->backward(loss, is_last) : loss.backward();
  };
  model->zero_grad();
  for (size_t i = 0; i < batches.size(); ++i) {
    const bool is_last = i + 1 == batches.size();
    const Batch& batch = batches[i];
    if (batch.rows.empty() && batch.source.empty()) {  // a share without a sentence
      backward(no_loss(model), is_last);
      continue;
    }
    torch::manual_seed(dropout_seed(training, step, i, share.rank));
    const bool is_outline = corpus != nullptr && batch.source.empty();
    const auto task = for_task(config, is_outline ? make_batch(*corpus, batch.rows) : batch,
                               MaskStream::of_step(training.seed, step));
    const auto hidden = hidden_of(model, to_device(task, device));
    const auto loss =
        smoothed_loss(hidden.rows, model->output_weight(), hidden.targets, training.eps_ls, mean);
    sums.smoothed += loss.smoothed.item<double>() / mean;
    sums.nll += loss.nll.item<double>();
    if (!std::isfinite(sums.smoothed)) {
      if (others_wait) backward(no_loss(model), true);
      return sums;
    }
    backward(loss.smoothed, is_last);
  }
  return sums;
}

double gradient_norm(const Adam::Parameters& parameters) {
  std::vector<torch::Tensor> gradients;
  for (const auto& [name, parameter] : parameters) gradients.push_back(parameter.grad());
  return torch::stack(torch::_foreach_norm(gradients, 2)).norm().item<double>();
}

}  // namespace transformer
