#pragma once

#include <torch/types.h>

#include <atomic>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "transformer/analysis/diagnostics.h"
#include "transformer/config.h"
#include "transformer/data/batches.h"
#include "transformer/diverged.h"
#include "transformer/nn/model.h"
#include "transformer/train/checkpoint.h"

namespace transformer {

// Every training.log_every steps, and at the last; sums and rates are over the steps since the last
// one.
struct StepLogged {
  int64_t step = 0;
  double loss = 0;  // per word-piece predicted, with label smoothing: what is minimised
  double nll = 0;   // without it
  double learning_rate = 0;
  double gradient_norm = 0;   // L2 over all parameters, of this step, before clipping
  int64_t source_tokens = 0;  // trained on so far
  int64_t target_tokens = 0;
  double tokens_per_second = 0;  // target word-pieces
  double seconds_left = 0;       // by the rate so far
};
struct Validated {
  int64_t step = 0;
  double perplexity = 0;
};
struct CheckpointWritten {
  int64_t step = 0;
};
// With step 0: there were checkpoints, and none of them is sound.
struct Resumed {
  int64_t step = 0;
  int64_t lost_steps = 0;       // after it, of checkpoints that are damaged: trained again
  bool validation_due = false;  // an interruption left out that step's
};
struct CheckpointPassedOver {
  std::string reason;
};
// Every training.diagnostics_every steps.
struct Diagnosed {
  int64_t step = 0;
  std::vector<SublayerDiagnostics> sublayers;
};
using TrainingEvent = std::variant<StepLogged, Validated, Diagnosed, CheckpointWritten, Resumed,
                                   CheckpointPassedOver>;

class Ranks;

struct TrainingTask {
  Config config;  // resolved, with V
  const Corpus& train;
  const Corpus* valid = nullptr;
  std::filesystem::path checkpoints;
  std::string vocabulary{};  // fingerprints, kept in the checkpoints
  torch::Device device = torch::kCPU;
  const std::atomic<bool>* stop = nullptr;  // ends after the step under way, with a checkpoint
  std::filesystem::path dump{};     // where a step that is not finite is left (step_dump.h), if any
  std::function<void()> on_step{};  // after every step: a sign of life
  const Batch* largest = nullptr;   // of `train` (largest_batch.h), where it is known already
  Ranks* ranks = nullptr;           // that train together (data_parallel.h); alone where null
};

struct TrainingOutcome {
  Progress progress;
  bool stopped = false;  // before its last step
};

// Trains to training.train_steps, from the newest sound checkpoint where there is one. A run killed
// at any moment and started again ends with the same weights, bit for bit, as one never stopped, on
// the same machine with as many threads. Prints nothing. Throws Diverged where a loss or a gradient
// is not finite, naming step, batch and tensor: such a step is never applied. Throws UserError,
// before the first step, where the largest batch does not fit into memory.
// Of several ranks, all of which call this, rank 0 alone reads and writes files, and only its
// events tell anything; all end after the same step. Throws Failure where one of them is lost.
TrainingOutcome train(Transformer& model, const TrainingTask& task,
                      const std::function<void(const TrainingEvent&)>& on_event);

}  // namespace transformer
