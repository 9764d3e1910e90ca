#include "tools/commands/sweep_progress.h"

#include <cstdio>

namespace transformer {
namespace fs = std::filesystem;

namespace {

std::string fixed(double value, int digits) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

}  // namespace

SweepProgress::SweepProgress(const Sweep& selected, fs::path folder,
                             std::function<double(const Config&)> work)
    : folder_(std::move(folder)),
      work_(std::move(work)),
      several_seeds_(selected.seeds.size() > 1),
      runs_(std::ssize(selected.rows) * std::ssize(selected.seeds)) {
  for (const auto& row : selected.rows) {
    whole_work_ += work_(row.config) * static_cast<double>(selected.seeds.size());
  }
}

void SweepProgress::operator()(const RunEvent& event) {
  const Run run{event.row.id, event.seed};
  const double work = work_(event.row.config);
  switch (event.kind) {
    case RunEvent::Kind::skipped:
      ++done_;
      whole_work_ -= work;
      return;
    case RunEvent::Kind::damaged:
      line_.say(name(run) + ": run again: " + event.message);
      return;
    case RunEvent::Kind::started:
      running_[run] = {work, event.row.config.training.train_steps, Clock::now(), {}};
      break;
    case RunEvent::Kind::progress:
      running_[run].progress = event.progress;
      break;
    case RunEvent::Kind::finished:
      line_.say(name(run) + ": " + outcome(run));
      running_.erase(run);
      ++done_;
      done_work_ += work;
      break;
    case RunEvent::Kind::failed:
      line_.say(name(run) + ": failed: " + event.message);
      running_.erase(run);
      ++failed_;
      done_work_ += work;
      break;
    case RunEvent::Kind::stopped:
      line_.say(name(run) + ": stopped");
      running_.erase(run);
      break;
  }
  line_.update(status());
}

std::string SweepProgress::name(const Run& run) const {
  return run.first + (several_seeds_ ? " seed " + std::to_string(run.second) : "");
}

std::string SweepProgress::outcome(const Run& run) const {
  const auto result =
      read_result(folder_ / run.first / ("seed-" + std::to_string(run.second)) / "result.json");
  return "perplexity " + fixed(result.perplexity, 2) + ", BLEU " + fixed(result.bleu, 1) + ", " +
         grouped(result.parameters) + " parameters, " +
         duration(seconds_since(running_.at(run).start));
}

std::string SweepProgress::status() const {
  std::string runs;
  double work = done_work_;
  double runs_done = static_cast<double>(done_ + failed_);
  for (const auto& [run, state] : running_) {
    const double part =
        static_cast<double>(state.progress.step) / static_cast<double>(state.train_steps);
    work += state.work * part;
    runs_done += part;
    runs += " | " + name(run);
    if (state.progress.step == 0) continue;
    runs += " step " + grouped(state.progress.step) + " of " + grouped(state.train_steps) +
            " loss " + fixed(state.progress.loss, 3);
  }
  const double part = whole_work_ > 0 ? work / whole_work_ : 1;
  const double elapsed = seconds_since(start_);
  std::string text = line_.bar(runs_done / static_cast<double>(runs_)) + " " +
                     std::to_string(done_) + " of " + std::to_string(runs_) + " runs done";
  if (failed_ > 0) text += ", " + std::to_string(failed_) + " failed";
  text += ", " + duration(elapsed);
  if (part > 0.01 && part < 1) text += ", about " + duration(elapsed * (1 - part) / part) + " left";
  return text + runs;
}

}  // namespace transformer
