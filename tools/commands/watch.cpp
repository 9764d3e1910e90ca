#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <map>
#include <thread>

#include "experiments/curves.h"
#include "experiments/display_width.h"
#include "experiments/interrupts.h"
#include "experiments/run_log.h"
#include "experiments/slurm.h"
#include "experiments/sweep_folder.h"
#include "tools/commands/arguments.h"
#include "tools/commands/commands.h"
#include "tools/status_line.h"
#include "transformer/clock.h"
#include "transformer/error.h"
#include "transformer/printable.h"

namespace transformer {
namespace fs = std::filesystem;

namespace {

// A run as it was when it was first looked at: its speed is measured from there.
struct Seen {
  int64_t step = 0;
  Clock::time_point time;
};

class Watcher {
 public:
  explicit Watcher(fs::path folder) : folder_(std::move(folder)) {}

  // A line a run, and one for all. `is_over` where nothing more will change by itself.
  std::string look(bool& is_over) {
    Results results = read_sweep_results(folder_);
    ask_slurm();
    for (auto& run : results.results) {  // one that is starting has not its lock yet
      if (task_of(run, SlurmTask::State::running) != nullptr) run.state = RunState::running;
    }
    size_t width = 0;
    for (const auto& run : results.results) width = std::max(width, display_width(name_of(run)));
    std::string text;
    std::map<RunState, int64_t> states;
    int64_t queued = 0;
    for (const auto& run : results.results) {
      const auto* const task = task_of(run, SlurmTask::State::queued);
      const std::string name = name_of(run);
      text += name + std::string(width + 2 - display_width(name), ' ');
      if (task != nullptr) {
        ++queued;
        text += "queued        task " + task->id + ": " + task->detail + "\n";
      } else {
        ++states[run.state];
        text += line_of(run, results);
      }
    }
    text += std::to_string(states[RunState::complete]) + " of " +
            std::to_string(results.results.size()) + " runs complete";
    for (const auto state :
         {RunState::running, RunState::diverged, RunState::failed, RunState::interrupted}) {
      if (states[state] > 0) {
        text += ", " + std::to_string(states[state]) + " " + transformer::name_of(state);
      }
    }
    if (queued > 0) text += ", " + std::to_string(queued) + " queued";
    is_over = states[RunState::running] == 0 && queued == 0;
    return text + "\n";
  }

 private:
  // Rarely: its queue is everybody's. Where it does not answer, the folder tells what it can.
  void ask_slurm() {
    constexpr double kSeldom = 30;
    if (asked_ && seconds_since(*asked_) < kSeldom) return;
    asked_ = Clock::now();
    try {
      tasks_ = slurm_tasks(folder_);
    } catch (const Failure&) {
      tasks_.clear();
    }
  }

  // The run's task where it is in that state; none of a run that is done, or at work by its folder.
  const SlurmTask* task_of(const RunRecord& run, SlurmTask::State state) const {
    const auto task = tasks_.find({run.id, run.seed});
    if (task == tasks_.end() || task->second.state != state) return nullptr;
    const bool is_settled = run.state == RunState::complete || run.state == RunState::diverged ||
                            run.state == RunState::running;
    return is_settled ? nullptr : &task->second;
  }

  static std::string name_of(const RunRecord& run) {
    return run.id + " seed " + std::to_string(run.seed);
  }

  std::string line_of(const RunRecord& run, const Results& results) {
    if (run.state == RunState::complete) {
      char figures[80];
      std::snprintf(figures, sizeof figures, "complete      perplexity %.3f, BLEU %.1f, ",
                    run.result->perplexity, run.result->bleu);
      return figures + duration(run.result->seconds) + "\n";
    }
    const std::string state = transformer::name_of(run.state);
    if (run.state != RunState::running) {
      constexpr size_t kMost = 100;
      return state + std::string(14 - state.size(), ' ') + printable(run.message, kMost) + "\n";
    }
    return state + std::string(14 - state.size(), ' ') + progress_of(run, results) + "\n";
  }

  std::string progress_of(const RunRecord& run, const Results& results) {
    const auto metrics = folder_ / run.id / ("seed-" + std::to_string(run.seed)) / "metrics.jsonl";
    const auto progress = last_progress(metrics);
    if (!progress) return "has not logged a step yet";
    const auto row = std::find_if(results.rows.begin(), results.rows.end(),
                                  [&](const RowRecord& each) { return each.id == run.id; });
    const Json::json_pointer key("/training/train_steps");
    const int64_t steps = row->config.contains(key) ? row->config[key].get<int64_t>() : 0;
    char loss[48];
    std::snprintf(loss, sizeof loss, ", loss %.3f", progress->loss);
    std::string text = bar(progress->step, steps) + " step " + grouped(progress->step) + " of " +
                       grouped(steps) + loss;
    const auto validated = learning_curve(metrics, "valid_perplexity");
    if (!validated.empty()) {
      char perplexity[64];
      std::snprintf(perplexity, sizeof perplexity, ", perplexity %.2f", validated.back().second);
      text += perplexity;
    }
    const auto [seen, is_new] = seen_.try_emplace(name_of(run), Seen{progress->step, Clock::now()});
    const int64_t since = progress->step - seen->second.step;
    if (since > 0 && steps > progress->step) {
      const double a_step = seconds_since(seen->second.time) / static_cast<double>(since);
      text += ", about " + duration(a_step * static_cast<double>(steps - progress->step)) + " left";
    }
    return text;
  }

  static std::string bar(int64_t step, int64_t steps) {
    constexpr int64_t kWidth = 20;
    const int64_t full = steps > 0 ? std::clamp<int64_t>(kWidth * step / steps, 0, kWidth) : 0;
    return "[" + std::string(static_cast<size_t>(full), '#') +
           std::string(static_cast<size_t>(kWidth - full), '.') + "]";
  }

  fs::path folder_;
  std::map<std::string, Seen> seen_;
  std::map<SweepFolder::Run, SlurmTask> tasks_;
  std::optional<Clock::time_point> asked_;
};

}  // namespace

int watch_command(int argc, char** argv) {
  cxxopts::Options options("transformer watch");
  options.add_options()("once", "print the state of things and end");
  const auto arguments =
      parse(options,
            {.name = "watch",
             .summary = "Shows how a sweep goes on, from another terminal; reads its folder and "
                        "changes\nnothing. Ends when no run is going on, or with Ctrl-C. Where "
                        "standard output is no\nterminal it prints once.",
             .usage = "DIR",
             .example = "transformer watch runs/table3-mini",
             .fewest = 1,
             .most = 1},
            argc, argv);
  if (!arguments) return 0;
  Watcher watcher(arguments->positional[0]);
  const Interrupts interrupts(Interrupts::Second::is_counted);
  const bool once = arguments->has("once") || isatty(STDOUT_FILENO) == 0;
  while (true) {
    bool is_over = false;
    const auto text = watcher.look(is_over);
    std::cout << (once ? "" : "\x1b[H\x1b[2J") << text << std::flush;
    for (int i = 0; i < 20 && !once && !is_over && interrupts.count() == 0; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    if (once || is_over || interrupts.count() > 0) return 0;
  }
}

}  // namespace transformer
