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

torch::Tensor initial(const std::string& name, const torch::Tensor& parameter, int64_t d_model,
                      const at::Generator& generator) {
  const auto value = torch::empty(parameter.sizes(), torch::kFloat);
  if (parameter.dim() == 1) return value.fill_(name.ends_with("norm.weight") ? 1.0 : 0.0);
  if (is_table(name)) {
    return value.normal_(0.0, 1.0 / std::sqrt(static_cast<double>(d_model)), generator);
  }
  const double bound = std::sqrt(6.0 / static_cast<double>(parameter.size(0) + parameter.size(1)));
  return value.uniform_(-bound, bound, generator);
}

}  // namespace

void initialise(TransformerImpl& model, int64_t seed) {
  const torch::NoGradGuard no_grad;
  const auto generator =
      at::make_generator<at::CPUGeneratorImpl>(stream_seed(seed, "initialisation"));
  for (auto& item : model.named_parameters()) {
    item.value().copy_(initial(item.key(), item.value(), model.config().d_model, generator));
  }
}

}  // namespace transformer
