#include "experiments/training_files.h"

#include "transformer/resident_memory.h"

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

constexpr const char* kMetricsName = "metrics.jsonl";
constexpr const char* kDiagnosticsName = "diagnostics.jsonl";

// What there is of the steps that the run goes on after; the lines of later ones are left from
// before the interruption, and each is written again.
std::vector<Json> kept_lines(const std::filesystem::path& path, const Resumed& event,
                             const MetricsFile::Tell& tell) {
  Metrics there = read_metrics(path);
  std::erase_if(there.lines, [&](const Json& line) {
    const int64_t step = line["step"].get<int64_t>();
    const bool is_due = event.validation_due && line.contains("valid_perplexity");
    return step > event.step || (step == event.step && is_due);
  });
  for (const auto& damage : there.damage) tell(damage + "; left out");
  return std::move(there.lines);
}

}  // namespace

void TrainingFiles::operator()(const Resumed& event) {
  const auto go_on = [&](std::optional<MetricsFile>& file, const std::filesystem::path& path,
                         const auto& missing) {
    const auto lines = kept_lines(path, event, tell_);
    for (const auto& lost : missing(lines)) tell_(path.string() + ": " + lost);
    file.emplace(path, lines, tell_);
  };
  go_on(metrics_, run_ / kMetricsName, [&](const std::vector<Json>& lines) {
    return missing_metrics(lines, training_, event.step, event.validation_due);
  });
  const auto path = run_ / kDiagnosticsName;
  if (training_.diagnostics_every == 0 && !std::filesystem::exists(path)) return;
  go_on(diagnostics_, path, [&](const std::vector<Json>& lines) {
    return missing_diagnostics(lines, training_, event.step);
  });
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
                    {"memory_bytes", peak_resident_bytes()}});
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
  if (!metrics_) metrics_.emplace(run_ / kMetricsName, std::vector<Json>(), tell_);
  return *metrics_;
}

MetricsFile& TrainingFiles::diagnostics() {
  if (!diagnostics_) diagnostics_.emplace(run_ / kDiagnosticsName, std::vector<Json>(), tell_);
  return *diagnostics_;
}

}  // namespace transformer
