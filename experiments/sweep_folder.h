#pragma once

// DIR/sweep.json                       the sweep as resolved; what made it, and from which data
// DIR/lock                             held by the one process that writes here
// DIR/ROW/seed-S/config.json           what the run is started with
//               /log.txt               what it printed
//               /failure.txt           why it failed; gone once it is started again
//               /result.json           present if and only if it is complete
//               /divergence.json       where its loss or gradient stopped being finite
// DIR/results.json                     all of it in one file

#include <filesystem>
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

class SweepFolder {
 public:
  using Run = std::pair<std::string, int64_t>;  // a row's id and a seed

  // Makes the folder, locks it and writes sweep.json. A folder keeps what it has: rows and seeds
  // may be added to it, but what a row is may not change. Throws UserError with the key and both
  // values where it would, and as expect_own_sweep does, and Failure where the folder is in use or
  // cannot be written.
  SweepFolder(const std::filesystem::path& folder, const Sweep& sweep);

  std::filesystem::path run_folder(const Run& run) const;
  RunResult result(const Run& run) const;
  std::optional<Divergence> divergence(const Run& run) const;

  // Makes the run's folder and its config.json, and forgets that it failed before. Returns what was
  // wrong with a config.json that it wrote anew, if one was.
  std::string prepare(const SweepRow& row, int64_t seed) const;
  void note_failure(const Run& run, const std::string& message) const;

  // Rebuilds results.json from the runs' folders, and sweep.json where data was made meanwhile.
  void write_results(const std::set<Run>& running);

 private:
  std::optional<Config> config_of(const Run& run) const;

  std::filesystem::path folder_;
  FolderLock lock_;
  Sweep sweep_;  // with the rows and seeds that were there before
  DataFingerprints data_;
};

// Throws UserError, with the file, where the folder holds no sweep and the sweep would write over
// what is there.
void expect_own_sweep(const std::filesystem::path& folder, const Sweep& sweep);

// The sweep with the rows and seeds that the folder has already; as it stands where there is none.
// Throws UserError as SweepFolder does.
Sweep joined_with(const std::filesystem::path& folder, const Sweep& sweep);

// results.json of a sweep's folder. What it calls running though no process is at work there was
// interrupted.
Results read_sweep_results(const std::filesystem::path& folder);

}  // namespace transformer
