#pragma once

#include <stdexcept>

namespace transformer {

// The user's mistake: a config, flag, file or checkpoint that does not fit. The program exits
// with 2. Form of every message: `where: what was expected; what came`.
class UserError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// What went wrong while running and is nobody's typing: a full disk, a run folder in use, a loss
// that is not finite. The program exits with 1.
class Failure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace transformer
