#include "transformer/analysis/signal.h"

#include <torch/torch.h>

namespace transformer {

namespace {

double mean_norm(const torch::Tensor& x) {
  return x.to(torch::kDouble).square().sum(-1).mean().sqrt().item<double>();
}

double variance(const torch::Tensor& x) {
  return x.to(torch::kDouble).var(/*unbiased=*/false).item<double>();
}

}  // namespace

SublayerSignal signal_of(const ResidualObservation::Seen& seen,
                         const std::optional<torch::Tensor>& rows) {
  const auto some = [&](const torch::Tensor& x) { return rows ? x.index({*rows}) : x; };
  const auto trunk = some(seen.pass.trunk);
  const auto branch = some(seen.pass.branch);
  SublayerSignal signal{.sublayer = seen.sublayer,
                        .trunk = mean_norm(trunk),
                        .branch = mean_norm(branch),
                        .output = mean_norm(some(seen.pass.output))};
  signal.branch_trunk = signal.branch / signal.trunk;
  signal.dependency = variance(branch) / variance(trunk + branch);
  return signal;
}

std::vector<SublayerSignal> measure_signal(Transformer& model,
                                           const std::function<torch::Tensor()>& loss) {
  model->zero_grad();
  std::vector<SublayerSignal> signals;
  torch::Tensor value;
  {
    const ResidualObservation observation(model);
    value = loss();
    const torch::NoGradGuard no_gradient;
    for (const auto& seen : observation.passes()) signals.push_back(signal_of(seen));
  }
  value.backward();
  const auto parameters = model->named_parameters();
  const auto gradient = [&](const std::string& name) {
    const auto* weight = parameters.find(name);
    return weight == nullptr ? 0.0 : weight->grad().to(torch::kDouble).norm().item<double>();
  };
  for (auto& signal : signals) {
    signal.gradient_in = gradient(signal.sublayer + ".in.weight");
    signal.gradient_out = gradient(signal.sublayer + ".out.weight");
  }
  return signals;
}

}  // namespace transformer
