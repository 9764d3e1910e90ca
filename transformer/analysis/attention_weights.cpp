#include "transformer/analysis/attention_weights.h"

#include <torch/torch.h>

namespace transformer {

std::vector<AttentionWeights> attention_weights(Transformer& model, const torch::Tensor& source,
                                                const torch::Tensor& target) {
  const torch::NoGradGuard no_gradient;
  model->eval();
  const ResidualObservation observation(model);
  const auto pass = model->pass(source, target);
  const auto modules = model->named_modules();
  std::vector<AttentionWeights> all;
  for (const auto& seen : observation.passes()) {
    auto* attention = modules[seen.sublayer]->as<MultiHeadAttentionImpl>();
    if (attention == nullptr) continue;
    const auto [output, weights] = attention_of(*attention, seen, pass);
    TORCH_INTERNAL_ASSERT(torch::allclose(output, seen.pass.branch, 1e-3, 1e-4), seen.sublayer,
                          ": these are not the weights that it was run with");
    all.push_back({seen.sublayer, weights});
  }
  return all;
}

MultiHeadAttentionImpl::Output attention_of(MultiHeadAttentionImpl& attention,
                                            const ResidualObservation::Seen& seen,
                                            const TransformerImpl::Pass& pass) {
  const auto [looked_at, mask] = subject_of(seen, pass);
  return attention.forward_with_weights(seen.pass.input, looked_at, mask);
}

}  // namespace transformer
