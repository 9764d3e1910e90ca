#include "experiments/run.h"

#include <torch/torch.h>

#include "experiments/metrics.h"
#include "transformer/analysis/parameters.h"
#include "transformer/data/dataset.h"
#include "transformer/decode/evaluate.h"
#include "transformer/decode/load.h"
#include "transformer/files.h"
#include "transformer/folder_lock.h"
#include "transformer/version.h"

namespace transformer {
namespace fs = std::filesystem;

namespace {

// A run's folder belongs to one config for ever.
void keep_config(const Config& config, const fs::path& folder) {
  const fs::path file = folder / "config.json";
  if (!fs::exists(file)) {
    write_json(file, to_json(config));
    return;
  }
  const Config kept = resolve(from_json<Config>(read_json(file), file.string()), file.string());
  if (const auto key = first_difference(kept, config)) {
    throw UserError(folder.string() + ": holds a run with another " + *key +
                    "; use another --out folder");
  }
}

Json metrics_line(const StepLogged& e) {
  return {{"step", e.step},
          {"loss", e.loss},
          {"nll", e.nll},
          {"learning_rate", e.learning_rate},
          {"gradient_norm", e.gradient_norm},
          {"source_tokens", e.source_tokens},
          {"target_tokens", e.target_tokens},
          {"tokens_per_second", e.tokens_per_second},
          {"memory_bytes", peak_memory_bytes()}};
}

// Opened at the first event: by then it is known from which step the run goes on.
class MetricsWriter {
 public:
  explicit MetricsWriter(fs::path path) : path_(std::move(path)) {}
  void operator()(const TrainingEvent& event) { std::visit(*this, event); }
  void operator()(const Resumed& e) { file_.emplace(path_, e.step); }
  void operator()(const StepLogged& e) { file().append(metrics_line(e)); }
  void operator()(const Validated& e) {
    file().append({{"step", e.step}, {"valid_perplexity", e.perplexity}});
  }
  void operator()(const CheckpointWritten&) {}
  void operator()(const CheckpointPassedOver&) {}

 private:
  MetricsFile& file() {
    if (!file_) file_.emplace(path_, 0);
    return *file_;
  }
  fs::path path_;
  std::optional<MetricsFile> file_;
};

std::vector<fs::path> last_models(const fs::path& checkpoints, int64_t count) {
  std::vector<fs::path> models;
  for (const auto& folder : checkpoint_folders(checkpoints)) {
    models.push_back(folder / "model.safetensors");
  }
  if (static_cast<int64_t>(models.size()) > count) {
    models.erase(models.begin(), models.end() - count);
  }
  return models;
}

struct Stopped {};  // by the user, in the middle of the evaluation

}  // namespace

std::optional<Result> run_experiment(Config config, const fs::path& folder,
                                     const torch::Device& device, const std::atomic<bool>& stop,
                                     const RunEvents& events) {
  make_folder(folder);
  const FolderLock lock(folder);
  keep_config(config, folder);
  const fs::path result_file = folder / "result.json";
  if (fs::exists(result_file)) {
    if (events.on_note) events.on_note(folder.string() + ": already complete");
    return read_result(result_file);
  }

  const Dataset data = open_dataset(config, events.on_note);
  config.model.V = data.vocabularies.target.size();
  config.model.source_V = data.vocabularies.source.size();
  config = resolve(config, folder.string());
  const int64_t parameters = count_parameters(config.model).total();
  if (events.on_start) events.on_start(config, parameters);

  Translator translator{Transformer(config.model), data.vocabularies.source,
                        data.vocabularies.target, config.decoding, device};
  MetricsWriter metrics(folder / "metrics.jsonl");
  const fs::path checkpoints = folder / "checkpoints";
  const auto outcome = train(translator.model,
                             {.config = config,
                              .train = data.train.corpus,
                              .valid = &data.valid.corpus,
                              .checkpoints = checkpoints,
                              .vocabulary = vocabulary_fingerprint(data.vocabularies),
                              .device = device,
                              .stop = &stop},
                             [&](const TrainingEvent& event) {
                               metrics(event);
                               if (events.on_training) events.on_training(event);
                             });
  if (outcome.stopped) return std::nullopt;

  const Model final = average(last_models(checkpoints, config.training.average_last));
  write_model(folder / "model.safetensors", final);
  State weights = state_of(*translator.model);
  assign(final.state, weights, folder.string());
  Evaluation evaluation;
  try {
    const auto lines = data.valid.text.source.size();
    evaluation = evaluate(translator, data.valid, config.data.tokens_per_batch, [&](size_t done) {
      if (stop) throw Stopped{};
      if (events.on_translating) events.on_translating(done, lines);
    });
  } catch (const Stopped&) {
    return std::nullopt;
  }

  const auto& progress = outcome.progress;
  const Result result{
      .parameters = parameters,
      .perplexity = evaluation.perplexity.value(),
      .bleu = evaluation.bleu.score,
      .bleu_signature = signature(),
      .train_steps = progress.step,
      .source_tokens = progress.source_tokens,
      .target_tokens = progress.target_tokens,
      .seconds = progress.seconds,
      .tokens_per_second = static_cast<double>(progress.target_tokens) / progress.seconds,
      .flops = progress.flops,
      .peak_memory_bytes = peak_memory_bytes(),
      .seed = config.training.seed,
      .threads = torch::get_num_threads(),
      .config_fingerprint = config_fingerprint(config),
      .data_fingerprint = data.train.corpus.fingerprint(),
      .vocabulary_fingerprint = vocabulary_fingerprint(data.vocabularies),
      .version = kVersion,
      .commit = kCommit,
      .machine = this_machine(),
      .config = to_json(config)};
  write_result(result_file, result);
  return result;
}

}  // namespace transformer
