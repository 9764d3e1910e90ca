#include "experiments/run.h"

#include <torch/torch.h>

#include <algorithm>

#include "experiments/divergence.h"
#include "experiments/own_folder.h"
#include "experiments/run_folder.h"
#include "experiments/training_files.h"
#include "experiments/translations.h"
#include "transformer/analysis/parameters.h"
#include "transformer/data/dataset.h"
#include "transformer/decode/evaluate.h"
#include "transformer/decode/load.h"
#include "transformer/error.h"
#include "transformer/files.h"
#include "transformer/folder_lock.h"
#include "transformer/resident_memory.h"
#include "transformer/train/largest_batch.h"
#include "transformer/train/precision.h"
#include "transformer/train/state.h"
#include "transformer/version.h"

namespace transformer {
namespace fs = std::filesystem;

namespace {

constexpr auto kNothing = "";  // rank 0's word where there is nothing to train

int64_t longer_side(const Corpus& corpus, int64_t pair) {
  return std::max(std::ssize(corpus.source(pair)), std::ssize(corpus.target(pair)));
}

// Of the sides that the model reads.
int64_t longest_read(const Corpus& corpus, int64_t pair, const ModelConfig& model) {
  return reads_source(model.family) ? longer_side(corpus, pair) : std::ssize(corpus.target(pair));
}

// Learned positions end somewhere, and so does the room in a batch: said before anything is
// trained.
void check_lengths(const Dataset& data, const Config& config) {
  const auto& corpus = data.train.corpus;
  const auto& model = config.model;
  const auto refuse = [&](int64_t pair, const char* key, int64_t most) {
    const auto& [source, target] = data.vocabularies;
    throw UserError(place_of_training_pair(config.data, source, target, pair) + ": has " +
                    std::to_string(longer_side(corpus, pair)) +
                    " word-pieces on a side, end-of-sentence included, but " + key + " is " +
                    std::to_string(most) + "; raise it, or lower data.max_length");
  };
  for (int64_t pair = 0; pair < corpus.size(); ++pair) {
    if (model.positions == PositionKind::learned &&
        longest_read(corpus, pair, model) > model.max_positions) {
      refuse(pair, "model.max_positions", model.max_positions);
    }
    if (longer_side(corpus, pair) > config.data.tokens_per_batch) {
      refuse(pair, "data.tokens_per_batch", config.data.tokens_per_batch);
    }
  }
  check_lengths(data.valid, model, config.decoding);
}

}  // namespace

std::optional<Result> run_experiment(Config config, const fs::path& folder,
                                     const torch::Device& device, const std::atomic<bool>& stop,
                                     const RunEvents& events, Ranks& ranks) {
  expect_precision(config.training.precision, device);
  expect_own_run(folder, config.data);
  make_folder(folder);
  const FolderLock lock(folder, run_files(), "run");
  const auto note = [&](const std::string& text) {
    lock.touch();
    if (events.on_note) events.on_note(text);
  };
  keep_config(config, folder, note);
  const fs::path result_file = folder / "result.json";
  if (auto result = complete_result(folder, note)) {
    ranks.word_of_first(kNothing);
    ranks.leave();
    return result;
  }
  if (const auto before = standing_divergence(folder, config)) {
    throw Diverged(before->step, before->message + "; so it ended before: remove " +
                                     divergence_file(folder).string() + " to train again");
  }
  const Config given = config;

  const auto opened = open_dataset(config, note, &stop);
  if (!opened) {
    ranks.word_of_first(kNothing);
    ranks.leave();
    return std::nullopt;
  }
  const Dataset& data = *opened;
  if (config.model.source_V.stated() && config.model.source_V != data.vocabularies.source.size()) {
    throw UserError("model.source_V: " + std::to_string(int64_t{config.model.source_V}) +
                    ", but the source vocabulary has " +
                    std::to_string(data.vocabularies.source.size()) +
                    " word-pieces; a vocabulary of its own is named by data.source_vocabulary");
  }
  config.model.V = data.vocabularies.target.size();
  config.model.source_V = data.vocabularies.source.size();
  config = resolve(config, folder.string());
  check_lengths(data, config);
  const Batch largest = largest_batch(data.train.corpus, config);
  expect_memory(largest, config, device);
  forget_peak();  // of learning word-pieces, if any were
  const int64_t parameters = count_parameters(config.model).total();
  if (events.on_start) events.on_start(config, parameters);

  Translator translator{Transformer(config.model), data.vocabularies.source,
                        data.vocabularies.target, config.decoding, device};
  TrainingFiles files(folder, config.training, note);
  const fs::path checkpoints = folder / "checkpoints";
  make_folder(checkpoints);  // rather now than after hours
  expect_room(folder, config.training, parameters);
  if (checkpoint_folders(checkpoints).empty()) {
    keep_vocabularies(config.data, folder, [](const std::string&) {});  // of another try
  }
  const auto on_event = [&](const TrainingEvent& event) {
    lock.expect_held();
    files(event);
    // Now it is known that the run began with these.
    if (std::holds_alternative<Resumed>(event)) keep_vocabularies(config.data, folder, note);
    if (events.on_training) events.on_training(event);
  };
  const auto diverge = [&](const Diverged& diverged) {  // a result too
    lock.expect_held();
    write_divergence(folder, given, diverged.step(), diverged.what());
    throw diverged;
  };
  ranks.word_of_first(text_of(to_json(config)));
  TrainingOutcome outcome;
  try {
    outcome = train(translator.model,
                    {.config = config,
                     .train = data.train.corpus,
                     .valid = &data.valid.corpus,
                     .checkpoints = checkpoints,
                     .vocabulary = vocabulary_fingerprint(data.vocabularies),
                     .device = device,
                     .stop = &stop,
                     .dump = folder / "diverged.safetensors",
                     .on_step = [&] { lock.touch(); },
                     .largest = &largest,
                     .ranks = &ranks},
                    on_event);
  } catch (const Diverged& diverged) {
    diverge(diverged);
  }
  if (outcome.stopped) return std::nullopt;

  lock.expect_held();
  const Model final = final_model(folder, config);
  const auto checksum = write_model(folder / "model.safetensors", final);
  State weights = state_of(*translator.model);
  assign(final.state, weights, folder.string());
  const auto lines = data.valid.text.source.size();
  std::optional<Evaluation> evaluated;
  try {
    evaluated = evaluate(translator, data.valid, config.data.tokens_per_batch,
                         {.on_done =
                              [&](size_t done) {
                                lock.touch();
                                if (events.on_translating) events.on_translating(done, lines);
                              },
                          .stop = &stop});
  } catch (const NotFinite& error) {
    diverge(Diverged(outcome.progress.step, error.what()));
  }
  if (!evaluated) return std::nullopt;
  const Evaluation& evaluation = *evaluated;
  lock.expect_held();
  if (evaluation.bleu) {
    write_translations(folder, {evaluation.hypotheses, data.valid.text.target}, checksum);
  } else {
    write_model_checksum(folder, checksum);
  }

  const auto& progress = outcome.progress;
  const Result result{
      .parameters = parameters,
      .perplexity = evaluation.perplexity.value(),
      .bleu = evaluation.bleu ? std::optional(evaluation.bleu->score) : std::nullopt,
      .bleu_signature = evaluation.bleu ? signature() : "",
      .train_steps = progress.step,
      .source_tokens = progress.source_tokens,
      .target_tokens = progress.target_tokens,
      .seconds = progress.seconds,
      .tokens_per_second = static_cast<double>(progress.target_tokens) / progress.seconds,
      .flops = progress.flops,
      .peak_memory_bytes = peak_resident_bytes(),
      .seed = config.training.seed,
      .threads = torch::get_num_threads(),
      .config_fingerprint = config_fingerprint(config),
      .data_fingerprint = data.train.corpus.fingerprint(),
      .vocabulary_fingerprint = vocabulary_fingerprint(data.vocabularies),
      .version = kVersion,
      .commit = kCommit,
      .machine = this_machine(),
      .config = to_json(config)};
  lock.expect_held();
  write_result(result_file, result);
  return result;
}

bool follow_experiment(const torch::Device& device, const std::atomic<bool>& stop, Ranks& ranks) {
  const std::string word = ranks.word_of_first(kNothing);  // its config, with V
  if (word == kNothing) {
    ranks.leave();
    return !stop;
  }
  const std::string where = "the config of rank 0";
  const Config config = resolve(from_json<Config>(parse_json(word, where), where), where);
  const auto data = open_dataset(config);
  Transformer model(config.model);
  return !train(model,
                {.config = config,
                 .train = data->train.corpus,
                 .valid = &data->valid.corpus,
                 .checkpoints = {},
                 .device = device,
                 .stop = &stop,
                 .ranks = &ranks},
                [](const TrainingEvent&) {})
              .stopped;
}

}  // namespace transformer
