#include "tools/commands/sweep_progress.h"

#include "experiments/layout.h"
#include "tools/text_table.h"

namespace transformer {
namespace fs = std::filesystem;

SweepProgress::SweepProgress(const Sweep& selected, fs::path folder,
                             const std::function<double(const Config&)>& work)
    : folder_(std::move(folder)),
      several_seeds_(selected.seeds.size() > 1),
      runs_(std::ssize(selected.rows) * std::ssize(selected.seeds)) {
  for (const auto& row : selected.rows) {
    for (const int64_t seed : selected.seeds) left_.add({row.id, seed}, work(row.config));
  }
}

void SweepProgress::operator()(const RunEvent& event) {
  const Run run{event.row.id, event.seed};
  const int64_t train_steps = event.row.config.training.train_steps;
  const double share = static_cast<double>(event.progress.step) / static_cast<double>(train_steps);
  switch (event.kind) {
    case RunEvent::Kind::skipped:
      ++done_;
      left_.end(run);
      return;
    case RunEvent::Kind::damaged:
      line_.say(name(run) + ": run again: " + event.message);
      return;
    case RunEvent::Kind::found:
      line_.say(name(run) + ": another process is at work on it; waiting for that one");
      [[fallthrough]];
    case RunEvent::Kind::started:
      running_[run] = {train_steps, Clock::now(), event.progress};
      left_.start(run, share);
      break;
    case RunEvent::Kind::progress:
      reach(running_[run], event.progress);
      left_.reach(run, share);
      break;
    case RunEvent::Kind::finished:
      line_.say(name(run) + ": " + outcome(run));
      running_.erase(run);
      left_.reach(run, 1);
      left_.end(run);
      ++done_;
      break;
    case RunEvent::Kind::retried:
      line_.say(name(run) + ": failed and tried again: " + event.message);
      running_.erase(run);
      break;
    case RunEvent::Kind::diverged:
      line_.say(name(run) + ": diverged: " + event.message);
      running_.erase(run);
      left_.end(run);
      ++done_;
      break;
    case RunEvent::Kind::failed:
      line_.say(name(run) + ": failed: " + event.message);
      running_.erase(run);
      left_.end(run);
      ++failed_;
      break;
    case RunEvent::Kind::stopped:
      line_.say(name(run) + ": stopped");
      running_.erase(run);
      break;
  }
  line_.update(status());
}

// A run that goes on is behind what it has logged before it was stopped: steps count from where it
// has come that far again.
void SweepProgress::reach(Running& state, const RunProgress& progress) {
  if (progress.step < state.last.step) return;
  const auto perplexity = state.last.perplexity;
  state.last = progress;
  if (!progress.perplexity) state.last.perplexity = perplexity;
  state.pace.reach(progress.step);
}

std::string SweepProgress::name(const Run& run) const {
  return run.first + (several_seeds_ ? " seed " + std::to_string(run.second) : "");
}

std::string SweepProgress::outcome(const Run& run) const {
  const auto result = read_result(run_folder_in(folder_, run.first, run.second) / "result.json");
  return shown_figures(result.perplexity, result.bleu) + ", " + grouped(result.parameters) +
         " parameters, " + duration(seconds_since(running_.at(run).start));
}

std::string SweepProgress::status_of(const Run& run, const Running& state) const {
  const auto& [step, loss, rate, perplexity] = state.last;
  std::string text = line_.bar(state.share()) + " " + name(run);
  if (step == 0) return text;
  text += " step " + grouped(step) + " of " + grouped(state.train_steps);
  if (!state.pace.is_seen()) return text;
  text += " loss " + fixed(loss, 3);
  if (perplexity) text += " valid PPL " + fixed(*perplexity, 2);
  if (rate) text += " " + formatted("%.0f", *rate) + " tokens/s";
  const auto left = state.pace.seconds_of(state.train_steps - step);
  return left ? text + " " + duration(*left) + " left" : text;
}

std::vector<std::string> SweepProgress::status() const {
  std::vector<std::string> lines(1);
  double runs_done = static_cast<double>(done_ + failed_);
  for (const auto& [run, state] : running_) {
    runs_done += state.share();
    lines.push_back(status_of(run, state));
  }
  const double elapsed = seconds_since(start_);
  std::string& whole = lines[0];
  whole = line_.bar(runs_done / static_cast<double>(runs_)) + " " + std::to_string(done_) + " of " +
          std::to_string(runs_) + " runs done";
  if (failed_ > 0) whole += ", " + std::to_string(failed_) + " failed";
  whole += ", " + duration(elapsed);
  const auto left = left_.seconds(elapsed);
  if (left && *left > 0) whole += ", about " + duration(*left) + " left";
  return lines;
}

}  // namespace transformer
