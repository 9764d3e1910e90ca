#include "experiments/run.h"

#include <torch/torch.h>

#include <algorithm>

#include "experiments/metrics.h"
#include "transformer/analysis/parameters.h"
#include "transformer/data/dataset.h"
#include "transformer/decode/evaluate.h"
#include "transformer/decode/load.h"
#include "transformer/error.h"
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

// The models that make the final one: of the last step, and of the multiples of checkpoint_every
// before it, training.average_last in all or as many as there were.
std::vector<fs::path> models_to_average(const fs::path& checkpoints,
                                        const TrainingConfig& training) {
  std::vector<fs::path> models;
  const int64_t every = training.checkpoint_every;
  for (int64_t step = training.train_steps; step > 0 && std::ssize(models) < training.average_last;
       step = (step - 1) / every * every) {
    models.push_back(checkpoints / checkpoint_name(step) / "model.safetensors");
    if (!fs::exists(models.back())) {
      throw Failure(models.back().string() +
                    ": is missing, and is one of those to be averaged; remove " +
                    checkpoints.string() + " to train again");
    }
  }
  return models;
}

Model average_of(const fs::path& checkpoints, const TrainingConfig& training) {
  try {
    return average(models_to_average(checkpoints, training));
  } catch (const UserError& damage) {  // not the user's mistake here
    throw Failure(std::string(damage.what()) + "; remove " + checkpoints.string() +
                  " to train again");
  }
}

// Learned positions end somewhere: said before anything is trained.
void check_lengths(const Corpus& corpus, const std::string& name, const ModelConfig& model) {
  if (model.positions != PositionKind::learned) return;
  for (int64_t pair = 0; pair < corpus.size(); ++pair) {
    const auto longest = std::max(std::ssize(corpus.source(pair)), std::ssize(corpus.target(pair)));
    if (longest <= model.max_positions) continue;
    throw UserError("model.max_positions: " + std::to_string(model.max_positions) + ", but pair " +
                    std::to_string(pair + 1) + " of " + name + " has " + std::to_string(longest) +
                    " word-pieces on a side; raise it, or lower data.max_length");
  }
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
  if (config.model.source_V.stated() && config.model.source_V != data.vocabularies.source.size()) {
    throw UserError("model.source_V: " + std::to_string(int64_t{config.model.source_V}) +
                    ", but the source vocabulary has " +
                    std::to_string(data.vocabularies.source.size()) +
                    " word-pieces; a vocabulary of its own is named by data.source_vocabulary");
  }
  config.model.V = data.vocabularies.target.size();
  config.model.source_V = data.vocabularies.source.size();
  config = resolve(config, folder.string());
  check_lengths(data.train.corpus, "data.train", config.model);
  check_lengths(data.valid.corpus, "data.valid", config.model);
  const int64_t parameters = count_parameters(config.model).total();
  if (events.on_start) events.on_start(config, parameters);

  Translator translator{Transformer(config.model), data.vocabularies.source,
                        data.vocabularies.target, config.decoding, device};
  MetricsWriter metrics(folder / "metrics.jsonl");
  const fs::path checkpoints = folder / "checkpoints";
  make_folder(checkpoints);  // rather now than after hours
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

  const Model final = average_of(checkpoints, config.training);
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
