#include "transformer/train/perplexity.h"

#include <torch/torch.h>

#include <cmath>

#include "transformer/data/batches.h"
#include "transformer/error.h"
#include "transformer/nn/masks.h"
#include "transformer/train/batch_tensors.h"
#include "transformer/train/loss.h"

namespace transformer {

double Perplexity::value() const { return std::exp(nll / static_cast<double>(tokens)); }

Perplexity perplexity(Transformer& model, const Corpus& corpus, int64_t tokens_per_batch,
                      const torch::Device& device) {
  torch::NoGradGuard no_gradient;
  const bool was_training = model->is_training();
  model->eval();
  Perplexity sum;
  for (const auto& rows : plan_evaluation(corpus, tokens_per_batch)) {
    const Batch batch = make_batch(corpus, rows);
    const auto ids = to_device(batch, device);
    const auto mask = padding_mask(ids.source);
    const auto hidden = model->decode(ids.target_input, model->encode(ids.source, mask), mask);
    sum.nll +=
        smoothed_loss(hidden, model->output_weight(), ids.target_output, 0.0).nll.item<double>();
    sum.tokens += batch.target_tokens;
  }
  model->train(was_training);
  if (!std::isfinite(sum.nll))
    throw Failure("validation: the loss is not finite; the model has diverged");
  return sum;
}

}  // namespace transformer
