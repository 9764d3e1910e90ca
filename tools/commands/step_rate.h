#pragma once

#include <optional>

#include "transformer/config.h"

namespace transformer {

// Floating-point operations a second (analysis/flops.h) of whole training steps of this config,
// timed here on a full batch of random word-pieces: a step to warm up, then the fastest of two.
// Empty where a step has more than some 10^11 operations and would take its time.
std::optional<double> step_rate(const Config& config);

}  // namespace transformer
