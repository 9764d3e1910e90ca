#pragma once

// A folder is a run's or a sweep's once this program has begun to write one there. In any other,
// what stands in the way is a person's, and is neither written over nor removed.

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "transformer/config.h"

namespace transformer {

// What a run writes into its folder or removes from it.
const std::vector<std::string>& run_files();

// Whether the folder holds a run, however little of it: its lock tells, or what only a run writes.
bool is_run(const std::filesystem::path& folder);

// Throws UserError, with the file, where training in the folder would write over what is not its
// own: any of run_files() unless the folder holds a run, or a vocabulary that `data` or the run
// itself names.
void expect_own_run(const std::filesystem::path& folder, const DataConfig& data);

// Throws UserError with the first of these files that is in the folder. `kind` is what it would
// hold: "run" or "sweep".
void expect_none_of(const std::vector<std::string>& files, const std::filesystem::path& folder,
                    const std::string& kind);

// Whether `read` ends without a UserError: only this program writes what it reads.
bool can_be_read(const std::function<void()>& read);

}  // namespace transformer
