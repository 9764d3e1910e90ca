#include "transformer/train/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>

namespace transformer {

double noam_rate(int64_t d_model, int64_t warmup_steps, double factor, int64_t step) {
  const auto s = static_cast<double>(step);
  const double decay = 1 / std::sqrt(s);
  const double rise =
      warmup_steps == 0 ? decay : s * std::pow(static_cast<double>(warmup_steps), -1.5);
  return factor / std::sqrt(static_cast<double>(d_model)) * std::min(decay, rise);
}

double learning_rate(const TrainingConfig& training, int64_t d_model, int64_t step) {
  if (training.schedule == ScheduleKind::noam) {
    return noam_rate(d_model, training.warmup_steps, training.factor, step);
  }
  const auto s = static_cast<double>(step);
  const auto warmup = static_cast<double>(training.warmup_steps);
  if (s < warmup) return training.learning_rate * s / warmup;
  switch (training.schedule) {
    case ScheduleKind::noam:
    case ScheduleKind::constant:
      return training.learning_rate;
    case ScheduleKind::cosine: {
      const double left = std::max(1.0, static_cast<double>(training.train_steps) - warmup);
      const double part = std::min(1.0, (s - warmup) / left);
      return training.learning_rate * 0.5 * (1 + std::cos(std::numbers::pi * part));
    }
    case ScheduleKind::inverse_sqrt:
      return training.learning_rate * std::sqrt(std::max(1.0, warmup) / s);
  }
  throw std::logic_error("a schedule without a case");
}

}  // namespace transformer
