#pragma once

#include <atomic>
#include <filesystem>

namespace transformer {

// Holds FILE for this process, waiting for whoever has it; the system lets go of it when the
// process ends, however it ends. The file is made where it is missing, and stays. Throws Failure,
// and Stopped where `stop` ends the waiting.
class FileLock {
 public:
  explicit FileLock(const std::filesystem::path& file, const std::atomic<bool>* stop = nullptr);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  int descriptor_;
};

}  // namespace transformer
