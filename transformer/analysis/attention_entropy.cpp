#include "transformer/analysis/attention_entropy.h"

#include <torch/torch.h>

namespace transformer {

std::vector<double> attention_entropy(const torch::Tensor& weights, const torch::Tensor& rows) {
  const auto p = weights.to(torch::kDouble);
  const auto entropy = -torch::xlogy(p, p).sum(-1);  // [batch, h, q_time]
  const auto heads = entropy.transpose(1, 2).index({rows}).mean(0).cpu().contiguous();
  const auto* first = heads.data_ptr<double>();
  return {first, first + heads.numel()};
}

}  // namespace transformer
