#pragma once

#include <torch/types.h>

#include <atomic>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "experiments/record.h"
#include "transformer/config.h"
#include "transformer/train/data_parallel.h"
#include "transformer/train/trainer.h"

namespace transformer {

struct RunEvents {
  std::function<void(const Config&, int64_t parameters)> on_start;  // as resolved, with V
  std::function<void(const TrainingEvent&)> on_training;
  std::function<void(size_t done, size_t all)> on_translating;  // lines of data.valid
  std::function<void(const std::string&)> on_note;              // what takes its time, for the user
};

// One experiment in one folder, from its config to its result:
//   config.json, metrics.jsonl, diagnostics.jsonl, checkpoints/, model.safetensors (the last
//   training.average_last checkpoints averaged), of a model that translates valid.translations,
//   valid.references and their valid.checksums, and result.json, which is there if and only if the
//   run is complete; or divergence.json and diverged.safetensors, the step that was not finite.
// Trains, or goes on with, the run in `folder`, with the other ranks where there are any, then
// evaluates it on data.valid. Returns nullopt
// where `stop` ended it early. A folder that holds another config, is in use by another process, or
// is no run's and has files of these names, is refused. Throws UserError and Failure; Diverged too
// where it did so before.
std::optional<Result> run_experiment(Config config, const std::filesystem::path& folder,
                                     const torch::Device& device, const std::atomic<bool>& stop,
                                     const RunEvents& events, Ranks& ranks);

// What the ranks other than rank 0, which calls run_experiment, do of its experiment: they train
// along and write nothing but, where a machine lacks it, the binarised text. Returns whether
// training has come to its end; false where it was stopped.
bool follow_experiment(const torch::Device& device, const std::atomic<bool>& stop, Ranks& ranks);

}  // namespace transformer
