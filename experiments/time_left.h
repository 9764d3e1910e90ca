#pragma once

// How long a sweep still takes, by the work that was done since it was started. What runs had done
// before that, in an earlier process, is neither waited for nor counted as fast.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace transformer {

class TimeLeft {
 public:
  using Run = std::pair<std::string, int64_t>;  // row and seed

  // A run that is to be done; its work in any unit, the same for all.
  void add(const Run& run, double work);
  // It begins, a share of it (0 to 1) done before.
  void start(const Run& run, double share);
  // So much of it is done now.
  void reach(const Run& run, double share);
  // It is over: complete, or nothing more is done of it.
  void end(const Run& run);

  // After `elapsed` seconds. Empty until enough is done to say.
  std::optional<double> seconds(double elapsed) const;

 private:
  struct State {
    double work = 0;
    double share = 0;
  };
  std::map<Run, State> runs_;  // those that are not over
  double done_ = 0;
};

}  // namespace transformer
