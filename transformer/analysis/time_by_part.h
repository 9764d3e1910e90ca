#pragma once

#include <map>
#include <memory>
#include <string>

namespace transformer {

// Where the time of training goes: "embedding", "attention", "feed-forward", "residual" (with
// normalization and dropout), "loss" (with the output projection), "optimizer", each forward and
// backward together, as the modules name themselves; "other" is what is in none of them.
//
// Counts while it lives, on its thread. The backward pass of a part is known by the sequence
// numbers that autograd gave out while the forward pass was in it. Costs about a microsecond an
// operation of the backward pass.
class TimeByPart {
 public:
  TimeByPart();
  ~TimeByPart();
  TimeByPart(const TimeByPart&) = delete;
  TimeByPart& operator=(const TimeByPart&) = delete;

  std::map<std::string, double> seconds() const;
  void reset();

  struct Clock;

 private:
  std::unique_ptr<Clock> clock_;
  uint64_t callback_;
};

}  // namespace transformer
