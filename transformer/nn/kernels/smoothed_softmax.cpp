#include "transformer/nn/kernels/smoothed_softmax.h"

#include <ATen/Parallel.h>
#include <torch/torch.h>

#include <cmath>
#include <limits>

#include "transformer/nn/kernels/exponential.h"

namespace transformer {

namespace {

struct RowLoss {
  double log_sum;  // of the exponentials
  double mean;     // of the logits
};

TRANSFORMER_INLINE void row_loss(float* logits, int64_t V, bool keep_exponentials, RowLoss& loss,
                                 float& normalizer) {
  Floats most = Floats{} - std::numeric_limits<float>::max();
  Floats total{};
  int64_t j = 0;
  Floats x;
  for (; j + kLanes <= V; j += kLanes) {
    load(x, logits + j);
    most = x > most ? x : most;
    total += x;
  }
  float maximum = largest(most);
  double sum_of_logits = sum(total);
  for (; j < V; ++j) {
    maximum = logits[j] > maximum ? logits[j] : maximum;
    sum_of_logits += logits[j];
  }
  Floats exponentials{};
  for (j = 0; j < V; j += kLanes) {
    load_some(x, logits + j, V - j);
    x -= maximum;
    exponential(x);
    if (V - j < kLanes) keep_some(x, V - j);
    exponentials += x;
    if (keep_exponentials) store_some(logits + j, x, V - j);
  }
  const float exponential_sum = sum(exponentials);
  loss = {maximum + std::log(static_cast<double>(exponential_sum)),
          sum_of_logits / static_cast<double>(V)};
  normalizer = 1.0f / exponential_sum;
}

TRANSFORMER_INLINE void to_gradient(float* exponentials, int64_t V, float factor, float spread) {
  for (int64_t j = 0; j < V; j += kLanes) {
    Floats x;
    load_some(x, exponentials + j, V - j);
    store_some(exponentials + j, x * factor - spread, V - j);
  }
}

}  // namespace

BlockLoss smoothed_softmax_(const torch::Tensor& logits, const torch::Tensor& targets,
                            double eps_ls, double weight, bool with_gradient) {
  const int64_t rows = logits.size(0);
  const int64_t V = logits.size(1);
  auto* const data = logits.data_ptr<float>();
  const auto* const target = targets.const_data_ptr<int64_t>();
  std::vector<BlockLoss> losses(static_cast<size_t>(rows));
  at::parallel_for(0, rows, 1, [&](int64_t begin, int64_t end) {
    vectorized([&]() __attribute__((always_inline)) {
      for (int64_t i = begin; i < end; ++i) {
        float* row = data + i * V;
        const double target_logit = row[target[i]];
        RowLoss loss;
        float normalizer;
        row_loss(row, V, with_gradient, loss, normalizer);
        auto& result = losses[static_cast<size_t>(i)];
        result.nll = loss.log_sum - target_logit;
        result.smoothed = (1 - eps_ls) * result.nll + eps_ls * (loss.log_sum - loss.mean);
        if (!with_gradient) continue;
        to_gradient(row, V, normalizer * static_cast<float>(weight),
                    static_cast<float>(weight * eps_ls / static_cast<double>(V)));
        row[target[i]] -= static_cast<float>(weight * (1 - eps_ls));
      }
    });
  });
  BlockLoss sum;  // in the rows' order, whatever the threads
  for (const auto& loss : losses) {
    sum.smoothed += loss.smoothed;
    sum.nll += loss.nll;
  }
  return sum;
}

}  // namespace transformer
