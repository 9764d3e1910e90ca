#include "experiments/training_files.h"

#include "experiments/machine.h"

namespace transformer {

namespace {

Json sublayer_json(const SublayerDiagnostics& diagnostics) {
  const auto& signal = diagnostics.signal;
  Json gradient = Json::object();
  Json update = Json::object();
  for (const auto& weight : diagnostics.weights) {
    gradient[weight.name] = weight.gradient;
    update[weight.name] = weight.update_weight;
  }
  Json json = {{"sublayer", signal.sublayer},
               {"trunk", signal.trunk},
               {"branch", signal.branch},
               {"output", signal.output},
               {"branch_trunk", signal.branch_trunk},
               {"dependency", signal.dependency},
               {"gradient", gradient},
               {"update_weight", update}};
  if (!diagnostics.attention_entropy.empty()) {
    json["attention_entropy"] = diagnostics.attention_entropy;
  }
  return json;
}

}  // namespace

void TrainingFiles::operator()(const Resumed& event) {
  begun_after_ = event.step;
  metrics();
  if (std::filesystem::exists(run_ / "diagnostics.jsonl")) diagnostics();
}

void TrainingFiles::operator()(const StepLogged& e) {
  metrics().append({{"step", e.step},
                    {"loss", e.loss},
                    {"nll", e.nll},
                    {"learning_rate", e.learning_rate},
                    {"gradient_norm", e.gradient_norm},
                    {"source_tokens", e.source_tokens},
                    {"target_tokens", e.target_tokens},
                    {"tokens_per_second", e.tokens_per_second},
                    {"memory_bytes", peak_memory_bytes()}});
}

void TrainingFiles::operator()(const Validated& e) {
  metrics().append({{"step", e.step}, {"valid_perplexity", e.perplexity}});
}

void TrainingFiles::operator()(const Diagnosed& e) {
  Json sublayers = Json::array();
  for (const auto& sublayer : e.sublayers) sublayers.push_back(sublayer_json(sublayer));
  diagnostics().append({{"step", e.step}, {"sublayers", sublayers}});
}

MetricsFile& TrainingFiles::metrics() {
  if (!metrics_) metrics_.emplace(run_ / "metrics.jsonl", begun_after_);
  return *metrics_;
}

MetricsFile& TrainingFiles::diagnostics() {
  if (!diagnostics_) diagnostics_.emplace(run_ / "diagnostics.jsonl", begun_after_);
  return *diagnostics_;
}

}  // namespace transformer
