#pragma once

#include <cstdint>
#include <optional>

#include "transformer/clock.h"

namespace transformer {

// How fast a run goes on, seen from outside: measured from the step that it was first seen at.
class Pace {
 public:
  void reach(int64_t step) {  // now
    if (!first_seen_) first_seen_ = Seen{step, Clock::now()};
    step_ = step;
  }
  bool is_seen() const { return first_seen_.has_value(); }

  // What so many steps take. Empty until one more was seen to be done.
  std::optional<double> seconds_of(int64_t steps) const {
    if (!first_seen_ || step_ <= first_seen_->step) return std::nullopt;
    const auto done = static_cast<double>(step_ - first_seen_->step);
    return seconds_since(first_seen_->time) / done * static_cast<double>(steps);
  }

 private:
  struct Seen {
    int64_t step = 0;
    Clock::time_point time;
  };
  std::optional<Seen> first_seen_;
  int64_t step_ = 0;
};

}  // namespace transformer
