#include <csignal>
#include <functional>
#include <iostream>

#include "experiments/cores.h"
#include "experiments/run_log.h"
#include "experiments/runner.h"
#include "experiments/slurm.h"
#include "experiments/sweep_folder.h"
#include "tools/commands/commands.h"
#include "tools/commands/model_options.h"
#include "tools/commands/runner_options.h"
#include "tools/commands/sweep_progress.h"
#include "transformer/error.h"
#include "transformer/train/device.h"

namespace transformer {

namespace {

int64_t seed_named(const std::string& text, const Sweep& sweep) {
  std::string known;
  for (const int64_t seed : sweep.seeds) {
    if (text == std::to_string(seed)) return seed;
    known += (known.empty() ? "" : ", ") + std::to_string(seed);
  }
  throw UserError("SEED: expected one of the sweep's seeds: " + known + "; got " +
                  fields::shown_name(text));
}

// After SIGUSR1 the run has its checkpoint, and may have the rest of its time on another day. One
// that makes no step twice would never end.
int end_for_now(const SweepFolder& folder, const SweepFolder::Run& run, int64_t steps_made) {
  constexpr int kExit = 128 + SIGUSR1;
  const std::string task = own_slurm_task();
  if (task.empty()) return kExit;
  if (steps_made == 0 && slurm_restarts() > 0) {
    folder.note_failure(run, "Slurm gave task " + task +
                                 " too little time for a single step, or for the last evaluation; "
                                 "raise --time-limit");
    return 1;
  }
  requeue(task);
  std::cerr << "task " << task << " is in the queue again\n";
  return kExit;
}

}  // namespace

int task_command(int argc, char** argv) {
  cxxopts::Options options("transformer task");
  add_device_options(options);
  add_run_limits(options);
  const auto arguments = parse(
      options,
      {.name = "task",
       .summary = "Does one run of a sweep, as a task of Slurm: the script that sweep --launcher "
                  "slurm submits\ncalls it. On SIGUSR1 the run writes a checkpoint and the task "
                  "goes back into the queue.",
       .usage = "DIR ROW SEED",
       .example = "transformer task runs/table3 A-h1 1 --threads 4",
       .fewest = 3,
       .most = 3},
      argc, argv);
  if (!arguments) return 0;
  const std::filesystem::path path = arguments->positional[0];
  const Sweep sweep = sweep_in(path);
  Sweep selected = sweep;
  select_rows(selected, {arguments->positional[1]});
  selected.seeds = {seed_named(arguments->positional[2], sweep)};
  const SweepFolder::Run run{arguments->positional[1], selected.seeds[0]};

  RunnerOptions runner{.folder = path, .role = RunnerRole::batch_task};
  const int64_t threads = arguments->integer("threads", 0, kMostThreads);
  runner.threads = threads > 0 ? threads : std::ssize(usable_cores());
  runner.device = arguments->get<std::string>("device");
  runner.damage_of_model = damage_of_model;
  read_run_limits(*arguments, runner);

  const SweepFolder folder(path, sweep, SweepFolder::Unlocked{});
  const auto checkpoints = folder.run_folder(run) / "checkpoints";
  const int64_t before = last_checkpoint(checkpoints);
  SweepOutcome outcome;
  {
    SweepProgress progress(selected, path, [](const Config&) { return 1.0; });
    outcome = run_sweep(sweep, selected, runner, std::ref(progress));
  }
  const bool is_put_off = outcome.signal == SIGUSR1 && outcome.left > 0;
  return is_put_off ? end_for_now(folder, run, last_checkpoint(checkpoints) - before)
                    : outcome.exit_code();
}

}  // namespace transformer
