#pragma once

// A sweep that is given to Slurm.

#include "experiments/runner.h"
#include "experiments/slurm_script.h"
#include "experiments/sweep.h"

namespace transformer {

// Prints how the selected runs are, submits those that are missing, and ends: Slurm does the rest.
// Throws as SweepFolder, slurm_tasks and submit do.
int sweep_in_slurm(const Sweep& sweep, const Sweep& selected, const RunnerOptions& options,
                   const SlurmOptions& slurm);

// Prints the script that it would submit, and writes nothing.
int print_slurm_script(const Sweep& sweep, const Sweep& selected, const RunnerOptions& options,
                       const SlurmOptions& slurm);

}  // namespace transformer
