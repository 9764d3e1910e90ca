#include "tools/commands/sweep_slurm.h"

#include <iostream>
#include <map>

#include "experiments/layout.h"
#include "experiments/run_log.h"
#include "experiments/slurm.h"
#include "experiments/slurm_runs.h"
#include "tools/commands/sweep_plan.h"
#include "tools/status_line.h"
#include "tools/text_table.h"
#include "transformer/error.h"
#include "transformer/printable.h"

namespace transformer {
namespace fs = std::filesystem;

namespace {

std::string state_of(const SlurmRun& run) {
  if (run.is_running()) return "running";
  if (run.is_queued()) return "queued";
  return name_of(run.record.state);
}

std::string detail_of(const SlurmRun& run, const SweepFolder& folder) {
  const auto& record = run.record;
  if (record.result) {
    return shown_figures(record.result->perplexity, record.result->bleu);
  }
  if (run.is_queued()) return described(*run.task);
  if (run.is_running()) {
    const auto progress =
        last_progress(folder.run_folder({record.id, record.seed}) / "metrics.jsonl");
    const std::string at = progress ? "step " + grouped(progress->step) : "no step yet";
    return (run.task ? "task " + run.task->id + ": " : "") + at;
  }
  constexpr size_t kMost = 200;
  const std::string told = printable(record.message, kMost);
  if (!run.task || record.state == RunState::diverged) return told;
  return told + (told.empty() ? "" : "; ") + described(*run.task);
}

void print_runs(const std::vector<SlurmRun>& runs, const SweepFolder& folder) {
  std::vector<std::vector<std::string>> lines = {{"run", "state", ""}};
  std::map<std::string, int64_t> counts;
  for (const auto& run : runs) {
    const std::string state = state_of(run);
    ++counts[state];
    lines.push_back({run.record.id + " seed " + std::to_string(run.record.seed), state,
                     detail_of(run, folder)});
  }
  print_cells(std::cout, lines, 3);
  std::string summary;
  for (const auto& [state, count] : counts) {
    summary += (summary.empty() ? "" : ", ") + std::to_string(count) + " " + state;
  }
  std::cout << "\n" << counted(runs.size(), "run") << ": " << summary << "\n" << std::flush;
}

SlurmJob job_for(const std::vector<SlurmRun>& runs, const RunnerOptions& options,
                 const SlurmOptions& slurm) {
  SlurmJob job{.name = slurm_job_name(options.folder),
               .runs = missing_runs(runs),
               .slurm = slurm,
               .run = options,
               .working_folder = fs::current_path()};
  job.run.folder = fs::absolute(options.folder).lexically_normal();
  job.run.program = fs::read_symlink("/proc/self/exe");  // on other machines, too
  return job;
}

}  // namespace

int sweep_in_slurm(const Sweep& sweep, const Sweep& selected, const RunnerOptions& options,
                   const SlurmOptions& slurm) {
  SweepFolder folder(options.folder, sweep);
  folder.write_results({});
  const auto tasks = slurm_tasks(options.folder);
  const auto runs = slurm_runs(folder, selected, tasks, options.damage_of_model);
  print_runs(runs, folder);
  const SlurmJob job = job_for(runs, options, slurm);
  if (job.runs.empty()) {
    std::cerr << "nothing to submit\n";
  } else {
    const std::string id = submit(job);
    std::cerr << "submitted " << counted(job.runs.size(), "run") << " as job array " << id << " ("
              << (options.folder / "slurm" / (job.name + ".sh")).string()
              << ")\nthe same command shows how they are, and submits what is missing by then\n";
  }
  std::cerr << "table: transformer table " << options.folder.string() << "\n";
  return 0;
}

int print_slurm_script(const Sweep& sweep, const Sweep& selected, const RunnerOptions& options,
                       const SlurmOptions& slurm) {
  std::map<SweepFolder::Run, SlurmTask> tasks;
  try {
    tasks = slurm_tasks(options.folder);
  } catch (const Failure& failure) {
    std::cerr << "transformer: " << failure.what()
              << "; runs that are in the queue count as missing here\n";
  }
  const SweepFolder folder(options.folder, sweep, SweepFolder::Unlocked{});
  const auto runs = slurm_runs(folder, selected, tasks, options.damage_of_model);
  const SlurmJob job = job_for(runs, options, slurm);
  if (job.runs.empty()) {
    std::cerr << "nothing to submit\n";
  } else {
    std::cout << slurm_script(job);
  }
  return 0;
}

}  // namespace transformer
