#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "experiments/runner.h"

namespace transformer {

// Tells on standard error how a sweep goes on. On a terminal one line stands at the bottom and
// changes; elsewhere it is a plain line twice a minute. Colours on a terminal only, and not with
// NO_COLOR set.
class SweepProgress {
 public:
  // `work` of a run decides how much of the whole it is.
  SweepProgress(const Sweep& selected, const std::filesystem::path& folder,
                std::function<double(const Config&)> work);
  ~SweepProgress();
  SweepProgress(const SweepProgress&) = delete;
  SweepProgress& operator=(const SweepProgress&) = delete;

  void operator()(const RunEvent& event);

 private:
  using Run = std::pair<std::string, int64_t>;
  using Clock = std::chrono::steady_clock;
  struct Running {
    double work = 0;
    int64_t train_steps = 0;
    Clock::time_point start;
    RunProgress progress;
  };

  void say(const std::string& line);  // above the changing line
  void show_status();
  std::string status() const;
  std::string name(const Run& run) const;
  std::string painted(const char* colour, const std::string& text) const;

  std::filesystem::path folder_;
  std::function<double(const Config&)> work_;
  bool terminal_;
  bool colours_;
  bool several_seeds_;
  int64_t runs_ = 0;
  int64_t done_ = 0;
  int64_t failed_ = 0;
  double whole_work_ = 0;  // of what is done here, without what was complete before
  double done_work_ = 0;
  std::map<Run, Running> running_;
  Clock::time_point start_ = Clock::now();
  Clock::time_point shown_ = start_;
};

}  // namespace transformer
