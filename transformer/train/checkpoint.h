#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "transformer/config.h"
#include "transformer/train/state.h"

namespace transformer {

// Where a training stands, beside weights and moments. Random streams need no state of their own:
// they follow from the seed and the step (transformer/random.h).
struct Progress {
  int64_t step = 0;           // steps done
  int64_t epoch = 0;          // of the next batch
  int64_t batch = 0;          // of the next batch, within its epoch
  int64_t source_tokens = 0;  // trained on so far
  int64_t target_tokens = 0;
  double flops = 0;              // of training so far, padding included (analysis/flops.h)
  double seconds = 0;            // of training so far
  double interval_smoothed = 0;  // sums since the last log line
  double interval_nll = 0;
  int64_t interval_tokens = 0;
  std::string data_fingerprint;  // of the training corpus the position counts in
  bool validation_due = false;   // of this step: a signal came before it was done
  // Of the files beside it, which so are known to be of one moment; empty in earlier versions'.
  std::string model_checksum{};
  std::string optimizer_checksum{};

  static void visit(auto& self, auto&& field) {
    field("step", self.step);
    field("epoch", self.epoch);
    field("batch", self.batch);
    field("source_tokens", self.source_tokens);
    field("target_tokens", self.target_tokens);
    field("flops", self.flops);
    field("seconds", self.seconds);
    field("interval_smoothed", self.interval_smoothed);
    field("interval_nll", self.interval_nll);
    field("interval_tokens", self.interval_tokens);
    field("data_fingerprint", self.data_fingerprint);
    field("validation_due", self.validation_due);
    field("model_checksum", self.model_checksum);
    field("optimizer_checksum", self.optimizer_checksum);
  }
};

struct Checkpoint {
  Config config;
  std::string vocabulary;  // fingerprints of the vocabularies it was trained with
  Progress progress;
  State model;
  State optimizer;
};

// FOLDER/step-000001000/{model,optimizer}.safetensors and progress.json, written beside, synced and
// renamed: there whole or not at all. Throws Failure.
void write_checkpoint(const std::filesystem::path& folder, const Checkpoint& checkpoint);

// The bytes of a checkpoint of so many parameters: weights and both moments, in float32.
int64_t checkpoint_bytes(int64_t parameters);

// Removes what a killed process left half-written or half-removed.
void remove_leftovers_of_checkpoints(const std::filesystem::path& folder);

// Removes those of later steps: they are not sound where the training has come no further.
void remove_checkpoints_after(const std::filesystem::path& folder, int64_t step);

// Removes all but the newest checkpoint and the newest `keep` of those at a multiple of `every`
// steps: one that an interruption left in between must not change which are averaged. Each is gone
// whole or not at all.
void remove_old_checkpoints(const std::filesystem::path& folder, int64_t keep, int64_t every);

// A checkpoint's folder, all of it held against its checksums. Throws Damaged where it is not what
// was written, and UserError where another version of this program wrote it.
Checkpoint read_checkpoint(const std::filesystem::path& folder);

// What is wrong with each of its files, in words.
std::vector<std::string> damage_of_checkpoint(const std::filesystem::path& folder);

// The newest checkpoint in FOLDER that is sound; nullopt where there is none. Each unsound one
// passed over is told to `on_damage` in words. Throws UserError on one of another version.
std::optional<Checkpoint> newest_checkpoint(
    const std::filesystem::path& folder, const std::function<void(const std::string&)>& on_damage);

// "step-000001000", and back
std::string checkpoint_name(int64_t step);
int64_t checkpoint_step(const std::filesystem::path& folder);

// The step folders in FOLDER, oldest first.
std::vector<std::filesystem::path> checkpoint_folders(const std::filesystem::path& folder);

// A model as others load it: weights with the resolved config in the metadata.
struct Model {
  Config config;
  std::string vocabulary;  // fingerprints of the vocabularies it was trained with; may be empty
  State state;
  std::string checksum{};  // of the file it was read from; may be empty
};
// Returns the checksum in the file.
std::string write_model(const std::filesystem::path& path, const Model& model);

// `path`: a .safetensors file, a checkpoint's folder, or a run's folder (its model.safetensors,
// else its newest checkpoint). Throws UserError.
std::filesystem::path file_of_model(const std::filesystem::path& path);
Model read_model(const std::filesystem::path& path);

// The mean of every weight over models of one architecture and vocabulary, accumulated in double.
// Throws UserError naming the key in which two configs differ.
Model average(const std::vector<std::filesystem::path>& paths);

}  // namespace transformer
