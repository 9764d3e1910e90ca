#pragma once

#include <cstdint>
#include <string>

#include "transformer/error.h"

namespace transformer {

// What the program exits with where training has diverged: a sweep tells by it a model that cannot
// be trained so from a run that failed.
constexpr int kExitDiverged = 3;

// A loss, a gradient or a weight is not finite.
class Diverged : public Failure {
 public:
  Diverged(int64_t step, const std::string& message) : Failure(message), step_(step) {}
  int64_t step() const { return step_; }  // that was not applied

 private:
  int64_t step_;
};

}  // namespace transformer
