#include "transformer/train/largest_batch.h"

#include <c10/util/Exception.h>

#include <algorithm>
#include <new>
#include <string>

#include "transformer/analysis/parameters.h"
#include "transformer/analysis/training_memory.h"
#include "transformer/available_memory.h"
#include "transformer/byte_count.h"
#include "transformer/error.h"
#include "transformer/train/step.h"

namespace transformer {

namespace {

BatchSize size_of(const Batch& batch) {
  return {{batch.sentences, batch.source_length, batch.target_length},
          batch.source_tokens,
          batch.target_tokens};
}

// "781 sentences of up to 32 source and 31 target word-pieces"
std::string shown_batch(const Batch& batch) {
  return std::to_string(batch.sentences) + " sentences of up to " +
         std::to_string(batch.source_length) + " source and " +
         std::to_string(batch.target_length) + " target word-pieces";
}

std::string parts(const TrainingMemory& memory, const Config& config) {
  return byte_count(memory.state) + " for " +
         std::to_string(count_parameters(config.model).total()) +
         " parameters with gradients and Adam's moments, " + byte_count(memory.batch) +
         " for the batch";
}

// Smaller batches, more of them a step, where those would fit into `room` bytes.
std::string advice(const TrainingMemory& memory, double room, const Batch& largest,
                   const Config& config) {
  constexpr double kSpare = 0.8;
  const int64_t now = largest.sentences * std::max(largest.source_length, largest.target_length);
  const double share = (kSpare * room - memory.state) / memory.batch;
  const auto tokens = static_cast<int64_t>(std::min(share, 0.5) * static_cast<double>(now));
  const std::string keys = "data.tokens_per_batch is " +
                           std::to_string(config.data.tokens_per_batch) + ", training.accumulate " +
                           std::to_string(config.training.accumulate) + "; take a smaller model";
  if (tokens < 1) return keys;
  const int64_t batches = (now + tokens - 1) / tokens;
  return keys + ", or data.tokens_per_batch=" + std::to_string(tokens) +
         " training.accumulate=" + std::to_string(batches * config.training.accumulate) +
         " for steps of as many tokens";
}

}  // namespace

Batch largest_batch(const Corpus& corpus, const Config& config) {
  Batch largest;
  double most = -1;
  for (const auto& rows : plan_evaluation(corpus, config.data.tokens_per_batch)) {
    Batch batch = outline_of(corpus, rows);
    const double bytes = training_memory(config.model, size_of(batch)).batch;
    if (bytes <= most) continue;
    most = bytes;
    largest = std::move(batch);
  }
  return largest;
}

void expect_memory(const Batch& largest, const Config& config, const torch::Device& device) {
  if (!device.is_cpu()) return;
  const auto memory = training_memory(config.model, size_of(largest));
  const auto problem = memory_problem(memory.total());
  if (!problem) return;
  throw UserError("training: steps on the largest batch, " + shown_batch(largest) + ", " +
                  *problem + ": " + parts(memory, config) + "; " +
                  advice(memory, available_memory().bytes, largest, config) + ". " +
                  kMemoryCheckOff);
}

void try_largest_batch(Transformer& model, const Batch& largest, const Corpus& corpus,
                       const Config& config, const torch::Device& device) {
  const auto memory = training_memory(config.model, size_of(largest));
  // Weights and moments are there by now.
  const double room =
      device.is_cpu() ? available_memory().bytes + memory.state : 0.75 * memory.total();
  const auto refuse = [&](const std::string& what) {
    throw UserError("training: the largest batch, " + shown_batch(largest) +
                    ", does not fit into memory (" + what + "): a step needs about " +
                    byte_count(memory.total()) + ": " + parts(memory, config) + "; " +
                    advice(memory, room, largest, config));
  };
  Batch outline;  // the step makes it
  outline.rows = largest.rows;
  outline.source_tokens = largest.source_tokens;
  outline.target_tokens = largest.target_tokens;
  outline.chosen_tokens = largest.chosen_tokens;
  const auto times = static_cast<size_t>(std::min<int64_t>(config.training.accumulate, 2));
  constexpr int64_t kBeforeTheFirst = 0;  // whose dropout is no step's
  try {
    gradients_of(model, std::vector<Batch>(times, outline), &corpus, config.training,
                 kBeforeTheFirst, device);
  } catch (const c10::OutOfMemoryError& error) {
    refuse(error.what_without_backtrace());
  } catch (const std::bad_alloc&) {
    refuse("it cannot be had");
  }
  model->zero_grad();
}

}  // namespace transformer
