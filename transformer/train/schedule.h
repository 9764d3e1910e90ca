#pragma once

#include <cstdint>

#include "transformer/config.h"

namespace transformer {

// Equation 3: factor · d_model^-0.5 · min(step^-0.5, step · warmup_steps^-1.5). `step` counts
// from 1. Its peak is factor · (d_model · warmup_steps)^-0.5, at step = warmup_steps.
double noam_rate(int64_t d_model, int64_t warmup_steps, double factor, int64_t step);

// The learning rate of a step by training.schedule. `step` counts from 1. Without warm-up
// (warmup_steps = 0) each schedule begins where its warm-up would have ended; noam and inverse_sqrt
// then fall as step^-0.5 from step 1.
double learning_rate(const TrainingConfig& training, int64_t d_model, int64_t step);

}  // namespace transformer
