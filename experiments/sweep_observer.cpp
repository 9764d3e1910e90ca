#include "experiments/sweep_observer.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>

#include "experiments/divergence.h"
#include "experiments/run_log.h"
#include "experiments/sweep_folder.h"
#include "transformer/config.h"
#include "transformer/error.h"
#include "transformer/folder_lock.h"

namespace transformer {
namespace fs = std::filesystem;

namespace {

// Differs once the file is another one. "" where there is none.
std::string stamp_of(const fs::path& file) {
  struct stat now {};
  if (stat(file.c_str(), &now) != 0) return "";
  return std::to_string(now.st_ino) + " " + std::to_string(now.st_size) + " " +
         std::to_string(now.st_mtim.tv_sec) + " " + std::to_string(now.st_mtim.tv_nsec);
}

// Else it is a sweep's, or said to be none.
bool is_single_run(const fs::path& folder) {
  return fs::exists(folder / "config.json") && !fs::exists(folder / "results.json");
}

// A run by itself as a sweep of one row, called by its folder.
Results results_of_run(const fs::path& folder) {
  const Config config = read_config(folder / "config.json");
  const std::string id = fs::absolute(folder).lexically_normal().filename().string();
  RunRecord run{id, config.training.seed, RunState::interrupted, {}, ""};
  if (fs::exists(folder / "result.json")) {
    run.result = read_result(folder / "result.json");
    run.state = RunState::complete;
  } else if (is_locked(folder)) {
    run.state = RunState::running;
  } else if (const auto divergence = read_divergence(folder)) {
    run.state = RunState::diverged;
    run.message = divergence->message;
    run.diverged_at = divergence->step;
  }
  Results results;
  results.rows.push_back({id, "", Json::object(), {}, to_json(config)});
  results.results.push_back(std::move(run));
  return results;
}

int64_t train_steps_of(const Results& results, const std::string& id) {
  const auto row = std::ranges::find(results.rows, id, &RowRecord::id);
  return row == results.rows.end() ? 0 : train_steps_stated_in(*row);
}

}  // namespace

SweepObserver::SweepObserver(fs::path folder) : folder_(std::move(folder)) {}

std::string SweepObserver::stamp_now() const {
  constexpr std::array kFiles = {"results.json", "result.json", "divergence.json", "failure.txt"};
  const auto stamp_in = [&](const fs::path& folder) {
    std::string stamp = is_locked(folder) ? "held " : "free ";
    for (const char* file : kFiles) stamp += stamp_of(folder / file) + ";";
    return stamp;
  };
  std::string stamp = stamp_in(folder_);
  for (const auto& run : results_.results) {  // which Slurm may do without a sweep's process
    if (run.state != RunState::complete) stamp += stamp_in(folder_of({run.id, run.seed}));
  }
  for (const auto& [run, task] : tasks_) stamp += task.id + task.detail + ";";
  return stamp;
}

bool SweepObserver::is_over() const {
  return std::ranges::all_of(results_.results, [](const RunRecord& run) {
    return run.state == RunState::complete || run.state == RunState::diverged;
  });
}

// Rarely, and not for a sweep that is over: its queue is everybody's. Where it does not answer, the
// folder tells what it can.
void SweepObserver::ask_slurm() {
  constexpr double kSeldom = 30;
  if (asked_slurm_ && (is_over() || seconds_since(*asked_slurm_) < kSeldom)) return;
  asked_slurm_ = Clock::now();
  try {
    tasks_ = slurm_tasks(folder_);
  } catch (const Failure&) {
    tasks_.clear();
  }
}

Results SweepObserver::read_now() const {
  return is_single_run(folder_) ? results_of_run(folder_) : read_sweep_results(folder_);
}

bool SweepObserver::look() {
  ask_slurm();
  bool is_other = stamp_now() != stamp_;
  if (is_other) {
    results_ = read_now();  // tells whose files count
    stamp_ = stamp_now();
    results_ = read_now();  // what changed before the stamp would be missed
  }
  for (const auto& run : results_.results) is_other |= curves_of({run.id, run.seed}).look();
  runs_.clear();
  for (const auto& run : results_.results) runs_.push_back(status_of(run));
  for (auto& status : runs_) {
    if (status.state == RunState::running) add_progress(status);
  }
  return is_other;
}

Curve SweepObserver::curve(const std::string& id, int64_t seed, const std::string& key) const {
  const auto found = curves_.find({id, seed});
  return found == curves_.end() ? Curve() : found->second.curve(key);
}

RunStatus SweepObserver::status_of(const RunRecord& run) const {
  RunStatus status{run.id, run.seed, run.state, run.message};
  status.train_steps = train_steps_of(results_, run.id);
  const Curve validated = curve(run.id, run.seed, kValidation);
  if (!validated.empty()) status.perplexity = validated.back().second;
  if (run.result) {
    status.step = run.result->train_steps;
    status.perplexity = run.result->perplexity;
    status.bleu = run.result->bleu;
    status.seconds = run.result->seconds;
  }
  add_slurm(status);
  return status;
}

// A task that is starting has not its run's lock yet.
void SweepObserver::add_slurm(RunStatus& status) const {
  const auto task = tasks_.find({status.id, status.seed});
  const bool is_settled = status.state == RunState::complete ||
                          status.state == RunState::diverged || status.state == RunState::running;
  if (task == tasks_.end() || is_settled) return;
  if (task->second.state == SlurmTask::State::running) status.state = RunState::running;
  if (task->second.state == SlurmTask::State::queued) status.queued = described(task->second);
}

void SweepObserver::add_progress(RunStatus& status) {
  const Run run{status.id, status.seed};
  const auto progress = last_progress(folder_of(run) / "metrics.jsonl");
  if (!progress) return;
  status.step = progress->step;
  status.loss = progress->loss;
  Pace& pace = paces_[run];
  pace.reach(progress->step);
  if (status.train_steps <= progress->step) return;
  status.seconds_left = pace.seconds_of(status.train_steps - progress->step);
}

GrowingCurves& SweepObserver::curves_of(const Run& run) {
  const auto found = curves_.find(run);
  if (found != curves_.end()) return found->second;
  return curves_
      .try_emplace(run, folder_of(run) / "metrics.jsonl",
                   std::vector<std::string>{kValidation, kTraining})
      .first->second;
}

fs::path SweepObserver::folder_of(const Run& run) const {
  return is_single_run(folder_) ? folder_ : run_folder_in(folder_, run.first, run.second);
}

}  // namespace transformer
