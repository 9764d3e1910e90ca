#include "experiments/time_left.h"

namespace transformer {

void TimeLeft::add(const Run& run, double work) { runs_[run] = {work, 0}; }

void TimeLeft::start(const Run& run, double share) { runs_.at(run).share = share; }

void TimeLeft::reach(const Run& run, double share) {
  State& state = runs_.at(run);
  done_ += state.work * (share - state.share);
  state.share = share;
}

void TimeLeft::end(const Run& run) { runs_.erase(run); }

std::optional<double> TimeLeft::seconds(double elapsed) const {
  constexpr double kEnough = 0.005;  // of the work: before that, starting up is most of the time
  double left = 0;
  for (const auto& [run, state] : runs_) left += state.work * (1 - state.share);
  if (done_ <= 0 || done_ < kEnough * (done_ + left)) return std::nullopt;
  return elapsed * left / done_;
}

}  // namespace transformer
