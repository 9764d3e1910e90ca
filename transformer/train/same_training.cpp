#include "transformer/train/same_training.h"

namespace transformer {

std::optional<std::string> why_not_go_on(const Config& there, const Config& now) {
  for (const auto& difference : differences(there, now)) {
    if (difference.key.starts_with("decoding.")) continue;
    if (difference.key != "training.train_steps") return both_values(difference);
    if (now.training.train_steps < there.training.train_steps) {
      return both_values(difference) + " (a run can be given more steps, not fewer)";
    }
    if (now.training.schedule == ScheduleKind::cosine) {
      return both_values(difference) + " (the cosine schedule depends on it from the first step)";
    }
  }
  return std::nullopt;
}

}  // namespace transformer
