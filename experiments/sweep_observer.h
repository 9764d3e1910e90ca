#pragma once

// How a sweep goes on, seen from another process that reads its folder and changes nothing: what
// `watch` prints and the live page shows.

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "experiments/curves.h"
#include "experiments/pace.h"
#include "experiments/record.h"
#include "experiments/slurm.h"
#include "transformer/clock.h"

namespace transformer {

// One (row, seed) as it stands.
struct RunStatus {
  std::string id;
  int64_t seed = 0;
  RunState state = RunState::missing;
  std::string message{};
  std::string queued{};                  // by Slurm: its task, and what that waits for
  int64_t train_steps = 0;               // 0: not known
  std::optional<int64_t> step{};         // that was logged last; none before the first is
  std::optional<double> loss{};          // of that step
  std::optional<double> perplexity{};    // on data.valid: the result's, else the last measured
  std::optional<double> bleu{};          // a complete run's, where its model translates
  std::optional<double> seconds{};       // a complete run's training
  std::optional<double> seconds_left{};  // a running one's, at its speed since it was first seen
};

class SweepObserver {
 public:
  // The curves that are followed, by their keys in metrics.jsonl.
  static constexpr auto kValidation = "valid_perplexity";
  static constexpr auto kTraining = "nll";

  // `folder`: a sweep's, or that of a run by itself, which then is a sweep of one.
  explicit SweepObserver(std::filesystem::path folder);

  // Reads what is there now. Returns whether anything but the time left has changed. Throws
  // UserError as read_sweep_results does.
  bool look();

  const std::filesystem::path& folder() const { return folder_; }
  const Results& results() const { return results_; }
  const std::vector<RunStatus>& runs() const { return runs_; }  // as results().results
  Curve curve(const std::string& id, int64_t seed, const std::string& key) const;

 private:
  using Run = std::pair<std::string, int64_t>;

  std::string stamp_now() const;
  Results read_now() const;
  bool is_over() const;
  void ask_slurm();
  RunStatus status_of(const RunRecord& run) const;
  void add_slurm(RunStatus& status) const;
  void add_progress(RunStatus& status);
  GrowingCurves& curves_of(const Run& run);
  std::filesystem::path folder_of(const Run& run) const;

  std::filesystem::path folder_;
  Results results_;
  std::string stamp_;  // of results_
  std::vector<RunStatus> runs_;
  std::map<Run, Pace> paces_;
  std::map<Run, GrowingCurves> curves_;
  std::map<Run, SlurmTask> tasks_;
  std::optional<Clock::time_point> asked_slurm_;
};

}  // namespace transformer
