#include "transformer/analysis/residual_observation.h"

#include <string_view>

namespace transformer {

namespace {

constexpr std::string_view kEnding = "_residual";

}  // namespace

ResidualObservation::ResidualObservation(Transformer& model) : model_(model) {
  for (const auto& item : model_->named_modules()) {
    auto* residual = item.value()->as<ResidualImpl>();
    if (residual == nullptr) continue;
    std::string sublayer = item.key();
    TORCH_INTERNAL_ASSERT(sublayer.ends_with(kEnding), sublayer, ": an unknown kind of residual");
    sublayer.resize(sublayer.size() - kEnding.size());
    residual->observe([this, sublayer](const ResidualPass& pass) {
      passes_.push_back({sublayer, pass});
    });
  }
}

ResidualObservation::~ResidualObservation() {
  for (const auto& module : model_->modules()) {
    if (auto* residual = module->as<ResidualImpl>()) residual->observe(nullptr);
  }
}

SublayerName::SublayerName(const std::string& registered) {
  constexpr std::string_view kLayers = ".layers.";
  const size_t layers = registered.find(kLayers);
  const size_t number = layers + kLayers.size();
  const size_t dot = registered.find('.', number);
  TORCH_CHECK(layers != std::string::npos && dot != std::string::npos, registered,
              ": expected the name of a sublayer");
  stack = registered.substr(0, layers);
  layer = std::stoll(registered.substr(number, dot - number));
  sublayer = registered.substr(dot + 1);
}

AttentionSubject subject_of(const ResidualObservation::Seen& seen,
                            const TransformerImpl::Pass& pass) {
  const SublayerName name(seen.sublayer);
  if (name.sublayer == "cross_attention") return {*pass.memory, {pass.encoder_mask}};
  if (name.stack == "decoder") return {seen.pass.input, {.causal = true}};
  return {seen.pass.input, {pass.encoder_mask}};
}

}  // namespace transformer
