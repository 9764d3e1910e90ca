#pragma once

// The job array by which Slurm does a sweep: one run a task.

#include <filesystem>
#include <string>
#include <vector>

#include "experiments/runner.h"
#include "experiments/sweep_folder.h"

namespace transformer {

struct SlurmOptions {
  std::string partition{};
  std::vector<std::string> sbatch{};  // further options of sbatch, as "account=nlp" or "exclusive"
  int64_t most_at_once = 0;           // runs at a time; 0: as many as Slurm likes
};

struct SlurmJob {
  std::string name{};                    // of letters, digits, '.', '_' and '-'
  std::vector<SweepFolder::Run> runs{};  // that of task 0, of task 1, ...
  SlurmOptions slurm{};
  RunnerOptions run{};  // folder and program as absolute paths; what each task is told
  std::filesystem::path working_folder{};  // that relative paths in configs start from
};

// A shell script with sbatch's options in it. What comes from the user stands in quotes there.
std::string slurm_script(const SlurmJob& job);

// "account=nlp exclusive", as --sbatch has it: words of NAME or NAME=VALUE, with or without dashes.
// Throws UserError with `where` on another word, and on an option that the sweep itself decides.
std::vector<std::string> read_sbatch_options(const std::string& text, const std::string& where);

}  // namespace transformer
