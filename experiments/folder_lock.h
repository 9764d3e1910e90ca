#pragma once

#include <filesystem>

namespace transformer {

// One process a folder: holds FOLDER/lock, which names the process. The system lets go of it when the
// process ends, however it ends. Throws Failure at once where another process has it.
class FolderLock {
 public:
  explicit FolderLock(const std::filesystem::path& folder);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int descriptor_ = -1;
};

}  // namespace transformer
