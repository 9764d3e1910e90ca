#pragma once

#include <chrono>
#include <filesystem>
#include <optional>

namespace transformer {

// One process writes a folder. Holds FOLDER/lock until destroyed; the system lets go of it when the
// process ends, however it ends. Files that a killed holder left half-written are removed. Where
// another process has it: Failure with that one's id, at once.
class FolderLock {
 public:
  explicit FolderLock(const std::filesystem::path& folder);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

  // Throws Failure where the folder, or the lock in it, was removed or replaced meanwhile: another
  // process may hold what is there now.
  void expect_held() const;

  // Says that the holder is at work: last_touched then tells this moment.
  void touch() const;

 private:
  std::filesystem::path folder_;
  int descriptor_;
};

// Whether a process holds the folder now.
bool is_locked(const std::filesystem::path& folder);

// When the holder, or the last one, took the folder or touched its lock. Empty where there is none.
std::optional<std::chrono::system_clock::time_point> last_touched(
    const std::filesystem::path& folder);

}  // namespace transformer
