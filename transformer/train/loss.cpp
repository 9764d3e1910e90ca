#include "transformer/train/loss.h"

#include <torch/torch.h>

#include <algorithm>
#include <cmath>

#include "transformer/data/tokenizer.h"

namespace transformer {

namespace {

// A block's logits should stay in a core's cache while the passes over them run.
int64_t rows_of_block(int64_t V) { return std::clamp<int64_t>((1 << 20) / V, 16, 1024); }

class ProjectionAndLoss : public torch::autograd::Function<ProjectionAndLoss> {
 public:
  // hidden: [tokens, d_model], targets: [tokens]. Returns {smoothed, nll}.
  static torch::autograd::variable_list forward(torch::autograd::AutogradContext* context,
                                                const torch::Tensor& hidden,
                                                const torch::Tensor& output_weight,
                                                const torch::Tensor& targets, double eps_ls,
                                                bool with_gradient) {
    const int64_t tokens = hidden.size(0);
    const int64_t V = output_weight.size(0);
    const auto sum = torch::TensorOptions().dtype(torch::kFloat64).device(hidden.device());
    auto smoothed = torch::zeros({}, sum);
    auto nll = torch::zeros({}, sum);
    torch::Tensor hidden_gradient;
    torch::Tensor weight_gradient;
    if (with_gradient) {
      hidden_gradient = torch::empty_like(hidden);
      weight_gradient = torch::zeros_like(output_weight);
    }
    const int64_t block = rows_of_block(V);
    for (int64_t start = 0; start < tokens; start += block) {
      const int64_t rows = std::min(block, tokens - start);
      const auto h = hidden.narrow(0, start, rows);
      const auto target = targets.narrow(0, start, rows).unsqueeze(1);
      auto log_p = torch::log_softmax(torch::mm(h, output_weight.t()), 1);  // [rows, V]
      const auto block_nll = -log_p.gather(1, target).sum(torch::kFloat64);
      nll += block_nll;
      smoothed += (1 - eps_ls) * block_nll;
      if (eps_ls > 0) smoothed -= eps_ls / static_cast<double>(V) * log_p.sum(torch::kFloat64);
      if (!with_gradient) continue;
      auto& gradient = log_p.exp_();
      if (eps_ls > 0) gradient.sub_(eps_ls / static_cast<double>(V));
      gradient.scatter_add_(1, target, torch::full_like(target, eps_ls - 1, gradient.options()));
      auto out = hidden_gradient.narrow(0, start, rows);
      torch::mm_out(out, gradient, output_weight);
      weight_gradient.addmm_(gradient.t(), h);
    }
    if (with_gradient) context->save_for_backward({hidden_gradient, weight_gradient});
    context->mark_non_differentiable({nll});
    return {smoothed, nll};
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 const torch::autograd::variable_list& outer) {
    const auto saved = context->get_saved_variables();
    const auto scale = outer[0].to(saved[0].scalar_type());
    return {saved[0] * scale, saved[1] * scale, {}, {}, {}};
  }
};

}  // namespace

LossSums smoothed_loss(const torch::Tensor& hidden, const torch::Tensor& output_weight,
                       const torch::Tensor& targets, double eps_ls) {
  const auto flat_targets = targets.reshape({-1});
  const auto real = flat_targets.ne(kPad).nonzero().squeeze(1);
  const auto rows = hidden.reshape({-1, hidden.size(-1)}).index_select(0, real);
  const bool with_gradient =
      torch::GradMode::is_enabled() && (rows.requires_grad() || output_weight.requires_grad());
  auto sums = ProjectionAndLoss::apply(rows, output_weight, flat_targets.index_select(0, real),
                                       eps_ls, with_gradient);
  return {sums[0], sums[1].detach()};
}

double loss_floor(double eps_ls, int64_t V) {
  const auto others = static_cast<double>(V - 1);
  const double rest = eps_ls / static_cast<double>(V);
  const double target = 1 - eps_ls + rest;
  const double tail = rest > 0 ? others * rest * std::log(rest) : 0;
  return -(target * std::log(target) + tail);
}

}  // namespace transformer
