#pragma once

// Runs a sweep: every (row, seed) that is not complete, each in a process of its own.

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <variant>
#include <vector>

#include "experiments/record.h"
#include "experiments/run_limits.h"
#include "experiments/run_log.h"
#include "experiments/sweep.h"
#include "experiments/sweep_folder.h"

namespace transformer {

// Who calls: a person, who is at work on the whole sweep; or a batch system, of whose tasks each
// does a run, beside others. Its signals may have reached the run too: it is told by SIGUSR1, which
// never counts as a second one.
enum class RunnerRole { whole_sweep, batch_task };

struct RunnerOptions {
  std::filesystem::path folder;
  RunnerRole role = RunnerRole::whole_sweep;
  int64_t jobs = 1;      // processes at a time
  int64_t threads = 1;   // of each
  std::string device{};  // handed on to train where stated
  // The GPUs that runs are placed on, one each while there are enough; none: `device` decides.
  std::vector<int64_t> gpus{};
  // This very program, also while it is being built anew.
  std::filesystem::path program = "/proc/self/exe";
  // Work of a run, in any unit: with several jobs the longest starts first, so that none is left
  // alone at the end. Without it, and with one job, runs start in the sweep's order, seed after
  // seed.
  std::function<double(const Config&)> work{};
  // Asked once of each run that is complete; without it, models are only looked for.
  DamageOfModel damage_of_model{};
  int64_t retries = 0;  // of a run that failed for another reason than its config
  RunLimits limits{};
  std::chrono::milliseconds patience = std::chrono::seconds(10);  // with a run that is told to end
};

// What happens to a run, told as it happens.
struct RunEvent {
  enum class Kind {
    skipped,
    damaged,
    found,
    started,
    progress,
    finished,
    diverged,
    retried,
    failed,
    stopped
  };
  Kind kind;
  const SweepRow& row;
  int64_t seed;
  RunProgress progress{};  // with `started`: the step it goes on from; with `progress`
  // `failed` and `retried`: why, and where its log is; `damaged`, `diverged`: what.
  std::string message{};
};

struct SweepOutcome {
  int64_t complete = 0;  // those that were before included
  int64_t diverged = 0;  // likewise; a result, not a failure
  int64_t failed = 0;
  int64_t left = 0;  // not done because a signal came
  int signal = 0;    // the first one, where one did

  int exit_code() const;  // 128 + signal, or 1 where a run failed, or 0
};

// `sweep` is kept in the folder; of it those in `selected` (rows and seeds) are run. A run that
// fails leaves the others alone. One that another process is at work on, as it may be after a sweep
// was killed, is found and waited for, not started twice. On SIGINT, SIGTERM and SIGUSR1 the
// processes are told, and waited for while they write their checkpoints; a second signal kills
// them. results.json is rebuilt after every run. Throws as SweepFolder does, and Failure where
// processes cannot be started.
SweepOutcome run_sweep(const Sweep& sweep, const Sweep& selected, const RunnerOptions& options,
                       const std::function<void(const RunEvent&)>& on_event);

}  // namespace transformer
