#pragma once

#include <torch/types.h>

#include <filesystem>

#include "transformer/train/step_dump.h"

namespace transformer {

// Runs a dumped step again and prints its sentences and the first tensor that is not finite.
// Returns kExitDiverged where that is what the dump says. Throws Failure where it is not.
int replay_step(const StepDump& dump, const std::filesystem::path& file,
                const torch::Device& device);

}  // namespace transformer
