#pragma once

#include <filesystem>
#include <optional>

#include "experiments/metrics.h"
#include "transformer/train/trainer.h"

namespace transformer {

// Writes down what training tells: RUN/metrics.jsonl, and RUN/diagnostics.jsonl where there are
// diagnostics. Each is opened at its first event: by then it is known from which step the run goes
// on. Lines that are damaged or lost are told.
class TrainingFiles {
 public:
  TrainingFiles(std::filesystem::path run, const TrainingConfig& training, MetricsFile::Tell tell)
      : run_(std::move(run)), training_(training), tell_(std::move(tell)) {}

  void operator()(const TrainingEvent& event) { std::visit(*this, event); }
  void operator()(const Resumed& event);
  void operator()(const StepLogged& event);
  void operator()(const Validated& event);
  void operator()(const Diagnosed& event);
  void operator()(const CheckpointWritten&) {}
  void operator()(const CheckpointPassedOver&) {}

 private:
  MetricsFile& metrics();
  MetricsFile& diagnostics();

  std::filesystem::path run_;
  TrainingConfig training_;
  MetricsFile::Tell tell_;
  std::optional<MetricsFile> metrics_;
  std::optional<MetricsFile> diagnostics_;
};

}  // namespace transformer
