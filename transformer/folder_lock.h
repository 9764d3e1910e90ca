#pragma once

#include <filesystem>

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

 private:
  int descriptor_;
};

// Whether a process holds the folder now.
bool is_locked(const std::filesystem::path& folder);

}  // namespace transformer
