#pragma once

#include <torch/types.h>

#include <cstdint>

namespace transformer {

// Sums over the tokens whose target is not kPad, in natural logarithms.
struct LossSums {
  torch::Tensor smoothed;  // what is minimised, times `weight`; carries the gradient
  torch::Tensor nll;       // negative log-likelihood without smoothing, for perplexity; no gradient
};

// Output projection and label-smoothed cross-entropy in one (section 5.4): the smoothed target has
// 1 - eps_ls on the target and eps_ls / V on every entry, the target included, as torch::nn's
// CrossEntropyLoss. The logits exist for one block of tokens at a time and their gradients are made
// in the same pass, so no [tokens, V] tensor is held.
// The loss of each token counts `weight` times: with 1 / tokens it is their mean.
//   hidden: [..., d_model], output_weight: [V, d_model], targets: [...] int64.
LossSums smoothed_loss(const torch::Tensor& hidden, const torch::Tensor& output_weight,
                       const torch::Tensor& targets, double eps_ls, double weight = 1.0);

// The least the smoothed loss of a token can be: the entropy of the smoothed target, in nats.
double loss_floor(double eps_ls, int64_t V);

}  // namespace transformer
