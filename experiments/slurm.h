#pragma once

// Slurm's side of a sweep: what it has in hand, and what it is given.
//
// DIR/slurm/NAME.json     the runs of one job array, in the order of its tasks; NAME is the job's
//          /NAME.sh       the script as submitted
//          /NAME_T.log    what task T said beside its run's own log.txt, and what Slurm said of it

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "experiments/slurm_script.h"
#include "experiments/sweep_folder.h"

namespace transformer {

// What became of a task.
struct SlurmTask {
  enum class State { queued, running, ended };
  State state = State::ended;
  std::string id;  // as scancel and scontrol take it: "12_0"
  // Of one that is queued, what it waits for, "" where that is not known; else Slurm's word for its
  // state.
  std::string detail;
};

// "task 12_0: Resources".
std::string described(const SlurmTask& task);

// The files NAME.json above, in order.
std::vector<std::filesystem::path> slurm_ledgers_in(const std::filesystem::path& folder);

// What Slurm knows of the runs in a sweep's folder; it forgets tasks some minutes after their end.
// Asks nothing where none was ever submitted. Throws Failure where Slurm does not answer: what is
// in the queue is not known then.
std::map<SweepFolder::Run, SlurmTask> slurm_tasks(const std::filesystem::path& folder);

// A new name for a job of the sweep in that folder.
std::string slurm_job_name(const std::filesystem::path& folder);

// Hands the job to sbatch; returns its id. Its files are written first, so that its tasks are found
// whatever happens meanwhile. Throws Failure with what sbatch said.
std::string submit(const SlurmJob& job);

// Of the task that this process is: "12_0"; "" where it is none of an array.
std::string own_slurm_task();

// How often Slurm has begun this task again.
int64_t slurm_restarts();

// Puts the task back into the queue, to go on another time; Slurm then ends it here. Throws
// Failure.
void requeue(const std::string& task);

}  // namespace transformer
