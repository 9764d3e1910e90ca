#include "experiments/runner.h"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>

#include "experiments/cores.h"
#include "experiments/gpu_places.h"
#include "experiments/interrupts.h"
#include "experiments/launcher.h"
#include "experiments/sweep_folder.h"
#include "transformer/diverged.h"
#include "transformer/folder_lock.h"

namespace transformer {
namespace fs = std::filesystem;

namespace {

using Kind = RunEvent::Kind;

struct Run {
  const SweepRow* row = nullptr;
  int64_t seed = 0;
  int64_t log_start = 0;          // what its log held before
  int64_t step = -1;              // last told
  int64_t tries = 0;              // before this one
  std::optional<size_t> share{};  // of the cores
  std::optional<int64_t> gpu{};
  std::chrono::system_clock::time_point start{};
  Overdue overdue = Overdue::no;  // and told to end
  std::chrono::system_clock::time_point end_by{};

  SweepFolder::Run name() const { return {row->id, seed}; }
};

class Runner {
 public:
  Runner(const Sweep& sweep, const RunnerOptions& options,
         const std::function<void(const RunEvent&)>& on_event)
      : options_(options),
        on_event_(on_event),
        folder_(opened(sweep, options)),
        gpus_(options.gpus),
        shares_(shares_of(usable_cores(), options.jobs, options.threads)) {
    for (size_t i = 0; i < shares_.size(); ++i) free_shares_.insert(i);
  }

  SweepOutcome run(const Sweep& selected) {
    const Interrupts interrupts(Interrupts::Second::is_counted);
    interrupts.announce(
        "stopping; runs write their checkpoints; a second signal ends them at once");
    queue(selected);
    folder_.write_results({});
    int told = 0;
    while (true) {
      for (; told < interrupts.count(); ++told) {
        launcher_.send(told == 0 ? told_to_end_by(interrupts) : SIGKILL);
      }
      look_elsewhere();
      while (told == 0 && !waiting_.empty() &&
             std::ssize(running_) + std::ssize(elsewhere_) < options_.jobs) {
        start_next();
      }
      if (interrupts.count() > told) continue;
      if (running_.empty() && (elsewhere_.empty() || told > 0)) break;
      if (const auto ended = launcher_.wait(std::chrono::milliseconds(500))) {
        finish(*ended, told > 0);
      } else {
        tell_progress();
        if (told == 0) keep_limits();
      }
    }
    outcome_.left += std::ssize(waiting_) + std::ssize(elsewhere_);
    outcome_.signal = told > 0 ? interrupts.signal() : 0;
    return outcome_;
  }

 private:
  static SweepFolder opened(const Sweep& sweep, const RunnerOptions& options) {
    switch (options.role) {
      case RunnerRole::whole_sweep:
        return {options.folder, sweep};
      case RunnerRole::batch_task:
        return {options.folder, sweep, SweepFolder::Unlocked{}};
    }
    throw std::logic_error("a role without a case");
  }

  int told_to_end_by(const Interrupts& interrupts) const {
    return options_.role == RunnerRole::batch_task ? SIGUSR1 : interrupts.signal();
  }

  void queue(const Sweep& selected) {
    for (const int64_t seed : selected.seeds) {
      for (const auto& row : selected.rows) {
        const auto [is_complete, is_diverged, problem] =
            folder_.standing({row.id, seed}, options_.damage_of_model);
        if (is_complete || is_diverged) {
          ++(is_complete ? outcome_.complete : outcome_.diverged);
          on_event_({Kind::skipped, row, seed});
          continue;
        }
        if (!problem.empty()) on_event_({Kind::damaged, row, seed, {}, problem});
        waiting_.push_back({&row, seed});
      }
    }
    if (options_.jobs > 1 && options_.work) {
      std::stable_sort(waiting_.begin(), waiting_.end(), [&](const Run& one, const Run& other) {
        return options_.work(one.row->config) > options_.work(other.row->config);
      });
    }
  }

  void start_next() {
    Run run = waiting_.front();
    waiting_.pop_front();
    const fs::path folder = folder_.run_folder(run.name());
    if (is_locked(folder)) return find(run);
    if (const auto damage = folder_.prepare(*run.row, run.seed); !damage.empty()) {
      on_event_({Kind::damaged, *run.row, run.seed, {}, damage + "; written anew"});
    }
    const std::string threads = std::to_string(options_.threads);
    Program program{.file = options_.program,
                    .arguments = {"train", (folder / "config.json").string(), "--out",
                                  folder.string(), "--threads", threads},
                    .log = folder / "log.txt",
                    .environment = {{"OMP_NUM_THREADS", threads}}};
    if (!options_.gpus.empty()) {
      run.gpu = gpus_.take();
      program.arguments.insert(program.arguments.end(), {"--device", "cuda"});
      program.environment[kVisibleGpus] = gpus_.visible(*run.gpu);
    } else if (!options_.device.empty()) {
      program.arguments.insert(program.arguments.end(), {"--device", options_.device});
    }
    if (!free_shares_.empty()) {
      run.share = *free_shares_.begin();
      free_shares_.erase(free_shares_.begin());
      program.arguments.insert(program.arguments.end(),
                               {"--cores", listed_cores(shares_[*run.share])});
    }
    run.start = std::chrono::system_clock::now();
    std::error_code none;
    const auto size = fs::file_size(program.log, none);
    run.log_start = none ? 0 : static_cast<int64_t>(size);
    running_.emplace(launcher_.start(program), run);
    on_event_({Kind::started, *run.row, run.seed, {last_checkpoint(folder / "checkpoints")}});
    write_results();
  }

  // Another process is at work on it.
  void find(const Run& run) {
    elsewhere_.push_back(run);
    on_event_({Kind::found, *run.row, run.seed});
    write_results();
  }

  // What others worked on and have left is complete, or goes on here.
  void look_elsewhere() {
    for (auto run = elsewhere_.begin(); run != elsewhere_.end();) {
      if (is_locked(folder_.run_folder(run->name()))) {
        ++run;
        continue;
      }
      if (folder_.result(run->name()).result) {
        ++outcome_.complete;
        on_event_({Kind::finished, *run->row, run->seed});
      } else if (const auto divergence = folder_.divergence(run->name())) {
        tell_divergence(*run, *divergence);
      } else {
        waiting_.push_front(*run);
      }
      run = elsewhere_.erase(run);
      write_results();
    }
  }

  // A run that is overdue is asked to end, which leaves it a checkpoint, and then made to.
  void keep_limits() {
    const auto now = std::chrono::system_clock::now();
    for (auto& [pid, run] : running_) {
      if (run.overdue != Overdue::no) {
        if (now > run.end_by) launcher_.send(SIGKILL, pid);
        continue;
      }
      run.overdue = overdue(options_.limits, folder_.run_folder(run.name()), run.start, now);
      if (run.overdue == Overdue::no) continue;
      run.end_by = now + options_.patience;
      launcher_.send(SIGTERM, pid);
    }
  }

  // Its config and its divergence would be the same another time, and its time is up for now.
  bool may_be_retried(const Ended& ended, const Run& run) const {
    constexpr int kWrongUsage = 2;
    return run.tries < options_.retries && run.overdue != Overdue::time &&
           ended.code != kWrongUsage && ended.code != kExitDiverged;
  }

  void tell_divergence(const Run& run, const Divergence& divergence) {
    ++outcome_.diverged;
    on_event_({Kind::diverged, *run.row, run.seed, {}, divergence.message});
  }

  void finish(const Ended& ended, bool stopping) {
    Run run = running_.at(ended.pid);
    running_.erase(ended.pid);
    if (run.share) free_shares_.insert(*run.share);
    run.share.reset();
    if (run.gpu) gpus_.give_back(*run.gpu);
    run.gpu.reset();
    const auto [result, problem] = folder_.result(run.name());
    if (ended.code == 0 && ended.signal == 0 && result) {
      ++outcome_.complete;
      on_event_({Kind::finished, *run.row, run.seed});
    } else if (stopping && (ended.signal != 0 || ended.code == 128 + SIGINT ||
                            ended.code == 128 + SIGTERM || ended.code == 128 + SIGUSR1)) {
      ++outcome_.left;
      on_event_({Kind::stopped, *run.row, run.seed});
    } else if (is_locked(folder_.run_folder(run.name()))) {
      find(run);  // it was not ours to run
    } else if (const auto divergence = folder_.divergence(run.name());
               divergence && ended.signal == 0) {
      tell_divergence(run, *divergence);
    } else if (const std::string why = reason(ended, run, problem); may_be_retried(ended, run)) {
      on_event_({Kind::retried, *run.row, run.seed, {}, why});
      waiting_.push_back({run.row, run.seed, 0, -1, run.tries + 1});
    } else {
      ++outcome_.failed;
      folder_.note_failure(run.name(), why);
      on_event_({Kind::failed, *run.row, run.seed, {}, why});
    }
    write_results();
  }

  std::string reason(const Ended& ended, const Run& run, const std::string& problem) const {
    const fs::path log = folder_.run_folder(run.name()) / "log.txt";
    std::string why;
    if (run.overdue != Overdue::no) {
      why = shown(run.overdue, options_.limits) + ", after step " +
            std::to_string(last_checkpoint(log.parent_path() / "checkpoints"));
    } else if (ended.signal != 0) {
      why =
          "killed by signal " + std::to_string(ended.signal) + " (" + strsignal(ended.signal) + ")";
    } else if (ended.code == 0) {
      why = problem.empty() ? "ended well, but wrote no result.json" : problem;
    } else {
      why = last_line(log, run.log_start);
      constexpr const char* kOwnName = "transformer: ";
      if (why.starts_with(kOwnName)) why.erase(0, std::strlen(kOwnName));
      if (why.empty()) why = "ended with exit code " + std::to_string(ended.code);
    }
    return why + " (log: " + log.string() + ")";
  }

  void tell_progress() {
    for (auto& [pid, run] : running_) {
      const auto progress = last_progress(folder_.run_folder(run.name()) / "metrics.jsonl");
      if (!progress || progress->step == run.step) continue;
      run.step = progress->step;
      on_event_({Kind::progress, *run.row, run.seed, *progress});
    }
  }

  void write_results() {
    std::set<SweepFolder::Run> running;
    for (const auto& [pid, run] : running_) running.insert(run.name());
    for (const auto& run : elsewhere_) running.insert(run.name());
    folder_.write_results(running);
  }

  const RunnerOptions& options_;
  const std::function<void(const RunEvent&)>& on_event_;
  SweepFolder folder_;
  std::deque<Run> waiting_;
  std::map<pid_t, Run> running_;
  std::vector<Run> elsewhere_;  // other processes are at work on these
  GpuPlaces gpus_;
  std::vector<std::vector<int64_t>> shares_;
  std::set<size_t> free_shares_;
  SweepOutcome outcome_;
  Launcher
      launcher_;  // last: when we leave by an exception, its processes end before the rest does
};

}  // namespace

int SweepOutcome::exit_code() const {
  if (signal != 0) return 128 + signal;
  return failed > 0 ? 1 : 0;
}

SweepOutcome run_sweep(const Sweep& sweep, const Sweep& selected, const RunnerOptions& options,
                       const std::function<void(const RunEvent&)>& on_event) {
  return Runner(sweep, options, on_event).run(selected);
}

}  // namespace transformer
