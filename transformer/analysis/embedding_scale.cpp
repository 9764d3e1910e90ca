#include "transformer/analysis/embedding_scale.h"

#include <torch/torch.h>

#include "transformer/analysis/residual_observation.h"

namespace transformer {

namespace {

double mean_norm(const torch::Tensor& x) {
  return x.to(torch::kDouble).norm(2, -1).mean().item<double>();
}

// `entering`: [batch, time, d_model], what the first layer of this side was given.
EmbeddingScale scale_of(Transformer& model, const std::string& side, const torch::Tensor& ids,
                        const torch::Tensor& entering) {
  const std::string table = model->config().tie_embeddings ? "embedding" : side + "_embedding";
  const auto rows = model->named_parameters()[table + ".weight"].index_select(0, ids.flatten());
  auto* positions = model->named_modules()[side + "_positions"]->as<PositionsImpl>();
  const int64_t time = ids.size(1);
  auto added = torch::zeros({time, entering.size(2)}, entering.options());
  if (const auto known = positions->table(time, entering.options())) {
    added = known->narrow(0, 0, time);
  }
  return {.embedding = mean_norm(rows),
          .scaled = mean_norm(entering - added),
          .position = mean_norm(added),
          .sum = mean_norm(entering)};
}

}  // namespace

EmbeddingScales embedding_scales(Transformer& model, const torch::Tensor& source,
                                 const torch::Tensor& target) {
  const torch::NoGradGuard no_gradient;
  model->eval();
  const ResidualObservation observation(model);
  model->forward(source, target);
  EmbeddingScales scales;
  for (const auto& seen : observation.passes()) {
    const SublayerName name(seen.sublayer);
    if (name.layer != 0 || name.sublayer != "self_attention") continue;
    const auto& entering = seen.pass.trunk;
    if (name.stack == "encoder" && reads_source(model->config().family)) {
      scales.source = scale_of(model, "source", source, entering);
    } else {
      scales.target = scale_of(model, "target", target, entering);
    }
  }
  return scales;
}

}  // namespace transformer
