#include "transformer/train/perplexity.h"

#include <torch/torch.h>

#include <cmath>

#include "transformer/data/task.h"
#include "transformer/train/batch_tensors.h"
#include "transformer/train/loss.h"

namespace transformer {

double Perplexity::value() const { return std::exp(nll / static_cast<double>(tokens)); }

Perplexity perplexity(Transformer& model, const Corpus& corpus, int64_t tokens_per_batch,
                      const torch::Device& device, const std::atomic<bool>* stop, int64_t rank,
                      int64_t ranks) {
  torch::NoGradGuard no_gradient;
  const bool was_training = model->is_training();
  model->eval();
  Perplexity sum;
  int64_t number = 0;
  for (const auto& rows : plan_evaluation(corpus, tokens_per_batch)) {
    if (number++ % ranks != rank) continue;
    if (stop != nullptr && stop->load()) break;
    const Batch batch = for_task(model->config(), make_batch(corpus, rows));
    const auto hidden = hidden_of(model, to_device(batch, device));
    sum.nll +=
        smoothed_loss(hidden.rows, model->output_weight(), hidden.targets, 0.0).nll.item<double>();
    sum.tokens += predicted_tokens(model->config().family, batch);
  }
  model->train(was_training);
  return sum;
}

}  // namespace transformer
