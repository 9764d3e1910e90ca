#include "transformer/train/loss.h"

#include <ATen/record_function.h>
#include <torch/torch.h>

#include <algorithm>
#include <cmath>

#include "transformer/data/tokenizer.h"
#include "transformer/nn/kernels/kernels.h"
#include "transformer/nn/kernels/smoothed_softmax.h"

namespace transformer {

namespace {

// Enough rows for the products to run at full speed, which read and write a whole [V, d_model]
// matrix a block; few enough to hold a small part of all the logits.
int64_t rows_of_block(int64_t tokens, int64_t V) {
  const int64_t most = std::clamp<int64_t>((1 << 25) / V, 128, 1024);
  const int64_t blocks = std::max<int64_t>((tokens + most - 1) / most, 1);
  return (tokens + blocks - 1) / blocks;
}

// The losses as sums; where a gradient is wanted, the logits become `weight` times theirs.
LossSums block_loss_(torch::Tensor& logits, const torch::Tensor& targets, double eps_ls,
                     double weight, bool with_gradient) {
  if (has_kernels(logits)) {
    const auto loss = smoothed_softmax_(logits, targets, eps_ls, weight, with_gradient);
    return {torch::scalar_tensor(loss.smoothed, torch::kDouble),
            torch::scalar_tensor(loss.nll, torch::kDouble)};
  }
  const auto target = targets.unsqueeze(1);
  logits = torch::log_softmax(logits, 1);
  const auto nll = -logits.gather(1, target).sum(torch::kFloat64);
  auto smoothed = (1 - eps_ls) * nll;
  const double spread = eps_ls / static_cast<double>(logits.size(1));
  if (eps_ls > 0) smoothed -= spread * logits.sum(torch::kFloat64);
  if (with_gradient) {
    logits.exp_();
    if (eps_ls > 0) logits.sub_(spread);
    logits.scatter_add_(1, target, torch::full_like(target, eps_ls - 1, logits.options()));
    logits.mul_(weight);
  }
  return {smoothed, nll};
}

class ProjectionAndLoss : public torch::autograd::Function<ProjectionAndLoss> {
 public:
  // hidden: [tokens, d_model], targets: [tokens]. Returns {smoothed, nll}.
  static torch::autograd::variable_list forward(torch::autograd::AutogradContext* context,
                                                const torch::Tensor& hidden,
                                                const torch::Tensor& output_weight,
                                                const torch::Tensor& targets, double eps_ls,
                                                double weight, bool with_gradient) {
    const int64_t tokens = hidden.size(0);
    const int64_t V = output_weight.size(0);
    const auto sum = torch::TensorOptions().dtype(torch::kFloat64).device(hidden.device());
    auto smoothed = torch::zeros({}, sum);
    auto nll = torch::zeros({}, sum);
    torch::Tensor hidden_gradient;
    torch::Tensor weight_gradient;
    if (with_gradient) {
      hidden_gradient = torch::empty_like(hidden);
      weight_gradient =
          tokens > 0 ? torch::empty_like(output_weight) : torch::zeros_like(output_weight);
    }
    const int64_t block = rows_of_block(tokens, V);
    for (int64_t start = 0; start < tokens; start += block) {
      const int64_t rows = std::min(block, tokens - start);
      const auto h = hidden.narrow(0, start, rows);
      auto logits = torch::mm(h, output_weight.t());  // [rows, V]
      const auto sums =
          block_loss_(logits, targets.narrow(0, start, rows), eps_ls, weight, with_gradient);
      smoothed += weight * sums.smoothed;
      nll += sums.nll;
      if (!with_gradient) continue;
      auto out = hidden_gradient.narrow(0, start, rows);
      torch::mm_out(out, logits, output_weight);
      if (start == 0) {
        torch::mm_out(weight_gradient, logits.t(), h);
      } else {
        weight_gradient.addmm_(logits.t(), h);
      }
    }
    if (with_gradient) context->save_for_backward({hidden_gradient, weight_gradient});
    context->mark_non_differentiable({nll});
    return {smoothed, nll};
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 const torch::autograd::variable_list& outer) {
    const auto saved = context->get_saved_variables();
    const auto& scale = outer[0];
    // A pass over [V, d_model] is spared where `weight` has said it all.
    if (scale.device().is_cpu() && scale.item<double>() == 1) {
      return {saved[0], saved[1], {}, {}, {}, {}};
    }
    const auto factor = scale.to(saved[0].scalar_type());
    return {saved[0] * factor, saved[1] * factor, {}, {}, {}, {}};
  }
};

}  // namespace

LossSums smoothed_loss(const torch::Tensor& hidden, const torch::Tensor& output_weight,
                       const torch::Tensor& targets, double eps_ls, double weight) {
  RECORD_USER_SCOPE("loss");
  auto flat_targets = targets.reshape({-1});
  auto rows = hidden.reshape({-1, hidden.size(-1)});
  const auto real = flat_targets.ne(kPad).nonzero().squeeze(1);
  if (real.size(0) < flat_targets.size(0)) {
    flat_targets = flat_targets.index_select(0, real);
    rows = rows.index_select(0, real);
  }
  const bool with_gradient =
      torch::GradMode::is_enabled() && (rows.requires_grad() || output_weight.requires_grad());
  auto sums =
      ProjectionAndLoss::apply(rows, output_weight, flat_targets, eps_ls, weight, with_gradient);
  return {sums[0], sums[1].detach()};
}

double loss_floor(double eps_ls, int64_t V) {
  const auto others = static_cast<double>(V - 1);
  const double rest = eps_ls / static_cast<double>(V);
  const double target = 1 - eps_ls + rest;
  const double tail = rest > 0 ? others * rest * std::log(1 / rest) : 0;
  return target * std::log(1 / target) + tail;
}

}  // namespace transformer
