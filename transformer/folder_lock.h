#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace transformer {

// One process writes a folder. Holds FOLDER/lock until destroyed; the system lets go of it when the
// process ends, however it ends. `files` are what holders write there: what a killed one left of
// them half-written is removed. Where another process has it: Failure with that one's id, and its
// machine where it is not this one, at once.
//
// `holds` says what the folder is for, "run" or "sweep": see held_by.
class FolderLock {
 public:
  explicit FolderLock(const std::filesystem::path& folder,
                      const std::vector<std::string>& files = {}, const std::string& holds = "");
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

// Whose the file FOLDER/lock is. One of an earlier version has a process id alone, as other
// programs' may; an empty one may be of a process that was killed before it wrote.
enum class LockFile { missing, empty, foreign, of_earlier_version, ours };
LockFile lock_file_in(const std::filesystem::path& folder);

// What its lock says the folder is for; empty where none of this version says it.
std::string held_by(const std::filesystem::path& folder);

// Says that the folder is this program's before a process holds it. Throws Failure.
void mark_folder(const std::filesystem::path& folder, const std::string& holds = "");

}  // namespace transformer
