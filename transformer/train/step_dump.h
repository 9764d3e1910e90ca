#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "transformer/config.h"
#include "transformer/data/batches.h"
#include "transformer/train/state.h"
#include "transformer/train/step.h"

namespace transformer {

// All that one step needs to be run again: what training leaves of one that is not finite. A
// safetensors file with a checksum: model.NAME, and batch.I.{source,target_input,target_output,
// rows}; the rest in its metadata.
struct StepDump {
  Config config;  // resolved, with V
  std::string vocabulary;
  int64_t step = 0;
  int64_t threads = 0;
  std::string finding;  // what was not finite first
  State model;          // before the step
  std::vector<Batch> batches;
  StepShare share{};  // where they are one rank's of several
};

void write_dump(const std::filesystem::path& file, const StepDump& dump);

// Throws UserError where the file is not a sound dump.
StepDump read_dump(const std::filesystem::path& file);

}  // namespace transformer
