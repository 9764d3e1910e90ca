#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "experiments/pace.h"
#include "experiments/runner.h"
#include "experiments/time_left.h"
#include "tools/status_line.h"
#include "transformer/clock.h"

namespace transformer {

// Says on the status line how a sweep goes on, and what came of each run.
class SweepProgress {
 public:
  // `work` of a run decides how much of the whole it is.
  SweepProgress(const Sweep& selected, std::filesystem::path folder,
                const std::function<double(const Config&)>& work);

  void operator()(const RunEvent& event);

 private:
  using Run = TimeLeft::Run;
  struct Running {
    int64_t train_steps = 0;
    Clock::time_point start;
    RunProgress last{};
    Pace pace{};

    double share() const {  // of it that is done
      return static_cast<double>(last.step) / static_cast<double>(train_steps);
    }
  };

  static void reach(Running& state, const RunProgress& progress);
  std::string outcome(const Run& run) const;
  std::vector<std::string> status() const;  // of the sweep, then of each run that goes on
  std::string status_of(const Run& run, const Running& state) const;
  std::string name(const Run& run) const;

  std::filesystem::path folder_;
  StatusLine line_;
  bool several_seeds_;
  int64_t runs_;
  int64_t done_ = 0;
  int64_t failed_ = 0;
  TimeLeft left_;
  std::map<Run, Running> running_;
  Clock::time_point start_ = Clock::now();
};

}  // namespace transformer
