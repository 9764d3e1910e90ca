#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <map>
#include <thread>

#include "experiments/display_width.h"
#include "experiments/interrupts.h"
#include "experiments/layout.h"
#include "experiments/sweep_observer.h"
#include "tools/commands/arguments.h"
#include "tools/commands/commands.h"
#include "tools/status_line.h"
#include "tools/text_table.h"
#include "transformer/printable.h"

namespace transformer {

namespace {

bool is_queued(const RunStatus& run) { return !run.queued.empty(); }

std::string name_of(const RunStatus& run) { return run.id + " seed " + std::to_string(run.seed); }

std::string bar_of(int64_t step, int64_t steps) {
  constexpr int64_t kWidth = 20;
  const int64_t full = steps > 0 ? std::clamp<int64_t>(kWidth * step / steps, 0, kWidth) : 0;
  return "[" + std::string(static_cast<size_t>(full), '#') +
         std::string(static_cast<size_t>(kWidth - full), '.') + "]";
}

std::string progress_of(const RunStatus& run) {
  if (!run.step) return "has not logged a step yet";
  std::string text = bar_of(*run.step, run.train_steps) + " step " + grouped(*run.step) + " of " +
                     grouped(run.train_steps);
  if (run.loss) text += formatted(", loss %.3f", *run.loss);
  if (run.perplexity) text += formatted(", perplexity %.2f", *run.perplexity);
  if (run.seconds_left) text += ", about " + duration(*run.seconds_left) + " left";
  return text;
}

std::string result_of(const RunStatus& run) {
  return shown_figures(*run.perplexity, run.bleu) + ", " + duration(*run.seconds);
}

std::string line_of(const RunStatus& run) {
  constexpr size_t kMost = 100;
  const auto padded = [](const std::string& word) {
    constexpr size_t kWidth = 14;
    return word + std::string(kWidth - word.size(), ' ');
  };
  if (is_queued(run)) return padded("queued") + run.queued + "\n";
  std::string text = printable(run.message, kMost);
  if (run.state == RunState::complete) text = result_of(run);
  if (run.state == RunState::running) text = progress_of(run);
  return padded(transformer::name_of(run.state)) + text + "\n";
}

// A line a run, and one for all.
std::string lines_of(const std::vector<RunStatus>& runs) {
  size_t width = 0;
  for (const auto& run : runs) width = std::max(width, display_width(name_of(run)));
  std::string text;
  std::map<RunState, int64_t> states;
  for (const auto& run : runs) {
    if (!is_queued(run)) ++states[run.state];
    const std::string name = name_of(run);
    text += name + std::string(width + 2 - display_width(name), ' ') + line_of(run);
  }
  text += std::to_string(states[RunState::complete]) + " of " + std::to_string(runs.size()) +
          " runs complete";
  for (const auto state :
       {RunState::running, RunState::diverged, RunState::failed, RunState::interrupted}) {
    if (states[state] > 0) {
      text += ", " + std::to_string(states[state]) + " " + transformer::name_of(state);
    }
  }
  const auto queued = std::ranges::count_if(runs, is_queued);
  if (queued > 0) text += ", " + std::to_string(queued) + " queued";
  return text + "\n";
}

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
  SweepObserver sweep(arguments->positional[0]);
  const Interrupts interrupts(Interrupts::Second::is_counted);
  const bool once = arguments->has("once") || isatty(STDOUT_FILENO) == 0;
  while (true) {
    sweep.look();
    std::cout << (once ? "" : "\x1b[H\x1b[2J") << lines_of(sweep.runs()) << std::flush;
    const bool is_over = std::ranges::none_of(sweep.runs(), [](const RunStatus& run) {
      return run.state == RunState::running || is_queued(run);
    });
    for (int i = 0; i < 20 && !once && !is_over && interrupts.count() == 0; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    if (once || is_over || interrupts.count() > 0) return 0;
  }
}

}  // namespace transformer
