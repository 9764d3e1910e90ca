#include "transformer/analysis/diagnostics.h"

#include <torch/torch.h>

#include <algorithm>

#include "transformer/analysis/attention_entropy.h"
#include "transformer/analysis/attention_weights.h"

namespace transformer {

namespace {

torch::Tensor first_sentences(const torch::Tensor& ids, const torch::Tensor& other) {
  const int64_t longer = std::max(ids.size(1), other.size(1));
  const int64_t sentences = std::max<int64_t>(1, StepDiagnosis::kMostTokens / longer);
  return ids.narrow(0, 0, std::min(sentences, ids.size(0)));
}

double frobenius(const torch::Tensor& x) { return x.norm().item<double>(); }

}  // namespace

StepDiagnosis::StepDiagnosis(Transformer& model, const torch::Tensor& source_ids,
                             const torch::Tensor& target_ids) {
  const torch::NoGradGuard no_gradient;
  const auto source = first_sentences(source_ids, target_ids);
  const auto target = first_sentences(target_ids, source_ids);
  model->eval();
  const auto modules = model->named_modules();
  {
    const ResidualObservation observation(model);
    const auto pass = model->pass(source, target);
    for (const auto& seen : observation.passes()) {
      const auto rows = SublayerName(seen.sublayer).stack == "encoder"
                            ? pass.encoder_mask->squeeze(1).squeeze(1)
                            : target.ne(0);
      SublayerDiagnostics sublayer{signal_of(seen, rows), {}, {}};
      if (auto* attention = modules[seen.sublayer]->as<MultiHeadAttentionImpl>()) {
        sublayer.attention_entropy =
            attention_entropy(attention_of(*attention, seen, pass).weights, rows);
      }
      sublayers_.push_back(std::move(sublayer));
    }
  }
  model->train();

  for (size_t i = 0; i < sublayers_.size(); ++i) {
    auto& sublayer = sublayers_[i];
    for (const auto& parameter : modules[sublayer.signal.sublayer]->named_parameters()) {
      if (parameter.value().dim() < 2) continue;
      const double gradient = frobenius(parameter.value().grad());
      if (parameter.key() == "in.weight") sublayer.signal.gradient_in = gradient;
      if (parameter.key() == "out.weight") sublayer.signal.gradient_out = gradient;
      before_.push_back(
          {i, sublayer.weights.size(), parameter.value(), parameter.value().detach().clone()});
      sublayer.weights.push_back({parameter.key(), gradient, 0});
    }
  }
}

std::vector<SublayerDiagnostics> StepDiagnosis::after_update() const {
  const torch::NoGradGuard no_gradient;
  auto sublayers = sublayers_;
  for (const auto& [sublayer, weight, now, then] : before_) {
    sublayers[sublayer].weights[weight].update_weight = frobenius(now - then) / frobenius(then);
  }
  return sublayers;
}

}  // namespace transformer
