#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace transformer {

// What is wrong in the folder of a run or of a sweep: every file held against its checksum, and
// against the others. A fault each in words, its file first; none where all is sound. What nothing
// depends on is left out: lock and log.txt. Throws UserError where the folder is neither.
std::vector<std::string> faults_of(const std::filesystem::path& folder);

}  // namespace transformer
