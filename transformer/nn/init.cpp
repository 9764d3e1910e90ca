#include "transformer/nn/init.h"

#include <ATen/CPUGeneratorImpl.h>

#include <cmath>
#include <string>

#include "transformer/random.h"

namespace transformer {

namespace {

// Of a word-piece or a position each: one row is one vector of the residual stream.
bool is_table(const std::string& name) {
  return name.find("embedding.weight") != std::string::npos ||
         name.find("positions.weight") != std::string::npos || name == "output.weight";
}

double weight_scale(const std::string& name, const ModelConfig& config) {
  const bool is_scaled = name.find(".feed_forward.") != std::string::npos ||
                         name.ends_with("attention.v.weight") ||
                         name.ends_with("attention.o.weight");
  if (!is_scaled) return 1;
  const auto stack = name.starts_with("encoder.") ? Stack::encoder : Stack::decoder;
  return residual_scales(config.norm_placement, stack, depth_of(config)).weights;
}

torch::Tensor initial(const std::string& name, const torch::Tensor& parameter,
                      const ModelConfig& config, const at::Generator& generator) {
  const auto value = torch::empty(parameter.sizes(), torch::kFloat);
  if (parameter.dim() == 1) return value.fill_(name.ends_with("norm.weight") ? 1.0 : 0.0);
  if (is_table(name)) {
    return value.normal_(0.0, 1.0 / std::sqrt(static_cast<double>(config.d_model)), generator);
  }
  const double bound = weight_scale(name, config) *
                       std::sqrt(6.0 / static_cast<double>(parameter.size(0) + parameter.size(1)));
  return value.uniform_(-bound, bound, generator);
}

}  // namespace

void initialise(TransformerImpl& model, int64_t seed) {
  const torch::NoGradGuard no_grad;
  const auto generator =
      at::make_generator<at::CPUGeneratorImpl>(stream_seed(seed, "initialisation"));
  for (auto& item : model.named_parameters()) {
    item.value().copy_(initial(item.key(), item.value(), model.config(), generator));
  }
}

}  // namespace transformer
