#pragma once

// DIR/sweep.json                       the sweep as resolved; what made it, and from which data
// DIR/lock                             held by the one process that writes here
// DIR/ROW/seed-S/config.json           what the run is started with
//               /log.txt               what it printed
//               /failure.txt           why it failed; gone once it is started again
//               /result.json           present if and only if it is complete
//               /divergence.json       where its loss or gradient stopped being finite
// DIR/results.json                     all of it in one file
// DIR/slurm/                           what was submitted to Slurm (slurm.h)

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "experiments/data_fingerprints.h"
#include "experiments/divergence.h"
#include "experiments/sweep.h"
#include "transformer/folder_lock.h"

namespace transformer {

struct RunResult {
  std::optional<Result> result{};  // there if and only if the run is complete
  std::string problem{};           // why it is not, though there is a result.json
};

// Whether a run is done, with a result or by divergence.
struct Standing {
  bool is_complete = false;
  bool is_diverged = false;
  std::string problem{};  // why it is not done, though there is a result.json
};

// What is wrong with a model.safetensors; "" where nothing is.
using DamageOfModel = std::function<std::string(const std::filesystem::path&)>;

class SweepFolder {
 public:
  using Run = std::pair<std::string, int64_t>;  // a row's id and a seed

  // Makes the folder, locks it and writes sweep.json. A folder keeps what it has: rows and seeds
  // may be added to it, but what a row is may not change. Throws UserError with the key and both
  // values where it would, and as expect_own_sweep does, and Failure where the folder is in use or
  // cannot be written.
  SweepFolder(const std::filesystem::path& folder, const Sweep& sweep);

  // The folder as it stands, for whoever does one of its runs beside others, or only looks: neither
  // made nor locked, and results.json is left alone.
  struct Unlocked {};
  SweepFolder(const std::filesystem::path& folder, const Sweep& sweep, Unlocked);

  std::filesystem::path run_folder(const Run& run) const;
  RunResult result(const Run& run) const;
  std::optional<Divergence> divergence(const Run& run) const;
  Standing standing(const Run& run, const DamageOfModel& damage_of_model) const;  // may be empty

  // The run as its folder tells: complete, running where a process holds it, failed, and so on.
  RunRecord record(const Run& run, int64_t train_steps) const;

  // Makes the run's folder and its config.json, and forgets that it failed before. Returns what was
  // wrong with a config.json that it wrote anew, if one was.
  std::string prepare(const SweepRow& row, int64_t seed) const;
  void note_failure(const Run& run, const std::string& message) const;

  // Rebuilds results.json from the runs' folders, and sweep.json where data was made meanwhile.
  void write_results(const std::set<Run>& running);

 private:
  std::filesystem::path folder_;
  std::unique_ptr<FolderLock> lock_;
  Sweep sweep_;  // with the rows and seeds that were there before
  DataFingerprints data_;
};

// Throws UserError, with the file, where the folder holds no sweep and the sweep would write over
// what is there.
void expect_own_sweep(const std::filesystem::path& folder, const Sweep& sweep);

// The sweep with the rows and seeds that the folder has already; as it stands where there is none.
// Throws UserError as SweepFolder does.
Sweep joined_with(const std::filesystem::path& folder, const Sweep& sweep);

// The sweep that the folder keeps. Throws UserError where there is none.
Sweep sweep_in(const std::filesystem::path& folder);

// results.json of a sweep's folder, its runs that are not complete there as their folders tell of
// them by now: what it calls running though no process is at work was interrupted, and what Slurm
// did meanwhile is done.
Results read_sweep_results(const std::filesystem::path& folder);

}  // namespace transformer
