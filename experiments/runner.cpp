#include "experiments/runner.h"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <deque>
#include <map>

#include "experiments/interrupts.h"
#include "experiments/launcher.h"
#include "experiments/sweep_folder.h"

namespace transformer {
namespace fs = std::filesystem;

namespace {

using Kind = RunEvent::Kind;

struct Run {
  const SweepRow* row = nullptr;
  int64_t seed = 0;
  int64_t log_start = 0;  // what its log held before
  int64_t step = -1;      // last told

  SweepFolder::Run name() const { return {row->id, seed}; }
};

class Runner {
 public:
  Runner(const Sweep& sweep, const RunnerOptions& options,
         const std::function<void(const RunEvent&)>& on_event)
      : options_(options), on_event_(on_event), folder_(options.folder, sweep) {}

  SweepOutcome run(const Sweep& selected) {
    const Interrupts interrupts(Interrupts::Second::is_counted);
    interrupts.announce(
        "stopping; runs write their checkpoints; a second signal ends them at once");
    queue(selected);
    folder_.write_results({});
    int told = 0;
    while (true) {
      for (; told < interrupts.count(); ++told) {
        launcher_.send(told == 0 ? interrupts.signal() : SIGKILL);
      }
      while (told == 0 && !waiting_.empty() && std::ssize(running_) < options_.jobs) start_next();
      if (interrupts.count() > told) continue;
      if (running_.empty()) break;
      if (const auto ended = launcher_.wait(std::chrono::milliseconds(500))) {
        finish(*ended, told > 0);
      } else {
        tell_progress();
      }
    }
    outcome_.left += std::ssize(waiting_);
    outcome_.signal = told > 0 ? interrupts.signal() : 0;
    return outcome_;
  }

 private:
  void queue(const Sweep& selected) {
    for (const int64_t seed : selected.seeds) {
      for (const auto& row : selected.rows) {
        auto [result, problem] = folder_.result({row.id, seed});
        if (result && options_.damage_of_model) {
          problem =
              options_.damage_of_model(folder_.run_folder({row.id, seed}) / "model.safetensors");
        }
        const bool is_complete = result && problem.empty();
        const bool is_diverged = !result && problem.empty() && folder_.divergence({row.id, seed});
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
    folder_.prepare(*run.row, run.seed);
    const fs::path folder = folder_.run_folder(run.name());
    const std::string threads = std::to_string(options_.threads);
    Program program{.file = options_.program,
                    .arguments = {"train", (folder / "config.json").string(), "--out",
                                  folder.string(), "--threads", threads},
                    .log = folder / "log.txt",
                    .environment = {{"OMP_NUM_THREADS", threads}}};
    if (!options_.device.empty()) {
      program.arguments.insert(program.arguments.end(), {"--device", options_.device});
    }
    std::error_code none;
    const auto size = fs::file_size(program.log, none);
    run.log_start = none ? 0 : static_cast<int64_t>(size);
    running_.emplace(launcher_.start(program), run);
    on_event_({Kind::started, *run.row, run.seed, {last_checkpoint(folder / "checkpoints")}});
    write_results();
  }

  void finish(const Ended& ended, bool stopping) {
    const Run run = running_.at(ended.pid);
    running_.erase(ended.pid);
    const auto [result, problem] = folder_.result(run.name());
    if (ended.code == 0 && ended.signal == 0 && result) {
      ++outcome_.complete;
      on_event_({Kind::finished, *run.row, run.seed});
    } else if (stopping &&
               (ended.signal != 0 || ended.code == 128 + SIGINT || ended.code == 128 + SIGTERM)) {
      ++outcome_.left;
      on_event_({Kind::stopped, *run.row, run.seed});
    } else if (const auto divergence = folder_.divergence(run.name());
               divergence && ended.signal == 0) {
      ++outcome_.diverged;
      on_event_({Kind::diverged, *run.row, run.seed, {}, divergence->message});
    } else {
      ++outcome_.failed;
      const std::string why = reason(ended, run, problem);
      folder_.note_failure(run.name(), why);
      on_event_({Kind::failed, *run.row, run.seed, {}, why});
    }
    write_results();
  }

  std::string reason(const Ended& ended, const Run& run, const std::string& problem) const {
    const fs::path log = folder_.run_folder(run.name()) / "log.txt";
    std::string why;
    if (ended.signal != 0) {
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
    folder_.write_results(running);
  }

  const RunnerOptions& options_;
  const std::function<void(const RunEvent&)>& on_event_;
  SweepFolder folder_;
  std::deque<Run> waiting_;
  std::map<pid_t, Run> running_;
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
