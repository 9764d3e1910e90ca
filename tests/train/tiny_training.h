#pragma once

// A training of some seconds, its losses kept.

#include <atomic>
#include <filesystem>
#include <variant>
#include <vector>

#include "transformer/config.h"
#include "transformer/data/corpus.h"
#include "transformer/train/trainer.h"

namespace transformer::testing {

constexpr int64_t kTinyV = 23;

// Not resolved: a test may change it first.
inline Config tiny_config() {
  Config config;
  config.model.N = 1;
  config.model.d_model = 16;
  config.model.d_ff = 24;
  config.model.h = 2;
  config.model.V = kTinyV;
  config.data.tokens_per_batch = 60;
  config.training.train_steps = 12;
  config.training.warmup_steps = 5;
  config.training.log_every = 1;
  config.training.validate_every = 4;
  config.training.checkpoint_every = 5;
  config.training.average_last = 3;
  return config;
}

struct Losses {
  std::vector<double> steps;  // by step: of one that is done again the last
  std::vector<double> valid;
};

// Trains in `folder`; with stop_after, as if a signal came during that step.
inline TrainingOutcome train_in(const std::filesystem::path& folder, const Config& config,
                                const Corpus& corpus, Losses& losses, int64_t stop_after = -1) {
  std::atomic<bool> stop{false};
  Transformer model(config.model);
  return train(model,
               {.config = config,
                .train = corpus,
                .valid = &corpus,
                .checkpoints = folder,
                .vocabulary = "v",
                .stop = &stop},
               [&](const TrainingEvent& event) {
                 if (const auto* logged = std::get_if<StepLogged>(&event)) {
                   losses.steps.resize(static_cast<size_t>(logged->step));
                   losses.steps.back() = logged->loss;
                   stop = logged->step == stop_after;
                 }
                 if (const auto* validated = std::get_if<Validated>(&event)) {
                   losses.valid.push_back(validated->perplexity);
                 }
               });
}

}  // namespace transformer::testing
