#include "experiments/slurm_runs.h"

namespace transformer {

bool SlurmRun::is_queued() const {
  return !is_running() && task && task->state == SlurmTask::State::queued;
}

bool SlurmRun::is_running() const {
  const bool is_at_work = task && task->state == SlurmTask::State::running;
  return record.state == RunState::running || (is_at_work && record.state != RunState::complete);
}

bool SlurmRun::is_missing() const {
  const bool is_done = record.state == RunState::complete || record.state == RunState::diverged;
  return !is_done && !is_running() && !is_queued();
}

std::vector<SlurmRun> slurm_runs(const SweepFolder& folder, const Sweep& selected,
                                 const std::map<SweepFolder::Run, SlurmTask>& tasks,
                                 const DamageOfModel& damage_of_model) {
  std::vector<SlurmRun> runs;
  for (const int64_t seed : selected.seeds) {
    for (const auto& row : selected.rows) {
      const SweepFolder::Run name{row.id, seed};
      SlurmRun run{folder.record(name, row.config.training.train_steps)};
      if (run.record.state == RunState::complete) {
        const auto standing = folder.standing(name, damage_of_model);
        if (!standing.is_complete)
          run.record = {row.id, seed, RunState::failed, {}, standing.problem};
      }
      if (const auto task = tasks.find(name); task != tasks.end()) run.task = task->second;
      runs.push_back(std::move(run));
    }
  }
  return runs;
}

std::vector<SweepFolder::Run> missing_runs(const std::vector<SlurmRun>& runs) {
  std::vector<SweepFolder::Run> missing;
  for (const auto& run : runs) {
    if (run.is_missing()) missing.emplace_back(run.record.id, run.record.seed);
  }
  return missing;
}

}  // namespace transformer
