#pragma once

// A sweep that Slurm does, run by run: what is done, what Slurm has in hand, and what is missing.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "experiments/slurm.h"

namespace transformer {

struct SlurmRun {
  RunRecord record;                 // as the run's folder tells
  std::optional<SlurmTask> task{};  // as Slurm tells, where it does

  bool is_queued() const;
  bool is_running() const;
  bool is_missing() const;  // neither done nor in hand: to be submitted
};

// Those in `selected`, in the order in which a sweep starts them.
std::vector<SlurmRun> slurm_runs(const SweepFolder& folder, const Sweep& selected,
                                 const std::map<SweepFolder::Run, SlurmTask>& tasks,
                                 const DamageOfModel& damage_of_model);

std::vector<SweepFolder::Run> missing_runs(const std::vector<SlurmRun>& runs);

}  // namespace transformer
