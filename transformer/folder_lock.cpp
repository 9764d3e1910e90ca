#include "transformer/folder_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <string>
#include <string_view>

#include "transformer/error.h"

namespace transformer {

namespace {

// What the holder wrote: its process id. Empty while it is about to.
std::string holder(int descriptor) {
  char text[24] = {};
  const ssize_t count = pread(descriptor, text, sizeof text - 1, 0);
  std::string digits;
  for (ssize_t i = 0; i < count && text[i] >= '0' && text[i] <= '9'; ++i) digits += text[i];
  return digits;
}

// What a killed writer of this folder left half-written: NAME.tmp-PID, unless PID still runs and is
// another process than this one.
void remove_leftovers(const std::filesystem::path& folder) {
  constexpr std::string_view kMark = ".tmp-";
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    const size_t mark = name.rfind(kMark);
    if (mark == std::string::npos || mark == 0) continue;
    const std::string digits = name.substr(mark + kMark.size());
    if (digits.empty() || digits.size() > 9 ||
        digits.find_first_not_of("0123456789") != std::string::npos) {
      continue;
    }
    const pid_t writer = std::stoi(digits);
    const bool runs = writer != getpid() && (kill(writer, 0) == 0 || errno != ESRCH);
    if (!runs && entry.is_regular_file(ignored)) std::filesystem::remove(entry.path(), ignored);
  }
}

}  // namespace

FolderLock::FolderLock(const std::filesystem::path& folder)
    : folder_(folder),
      descriptor_(
          open((folder / "lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666)) {
  const auto fail = [&](const std::string& what) {
    if (descriptor_ >= 0) close(descriptor_);
    throw Failure(what);
  };
  const std::string file = (folder / "lock").string();
  if (descriptor_ < 0) fail(file + ": cannot create: " + std::strerror(errno));
  // Who only asks whether it is locked holds it for a moment.
  constexpr timespec kMoment{.tv_sec = 0, .tv_nsec = 20'000'000};
  int failed = flock(descriptor_, LOCK_EX | LOCK_NB);
  for (int i = 0; i < 5 && failed != 0 && errno == EWOULDBLOCK; ++i) {
    nanosleep(&kMoment, nullptr);
    failed = flock(descriptor_, LOCK_EX | LOCK_NB);
  }
  if (failed != 0) {
    const int error = errno;
    if (error != EWOULDBLOCK) fail(file + ": cannot lock: " + std::strerror(error));
    const std::string pid = holder(descriptor_);
    fail(folder.string() + ": in use by another process" + (pid.empty() ? "" : " (" + pid + ")") +
         "; wait for it, or stop it, or take another folder");
  }
  const std::string pid = std::to_string(getpid()) + "\n";
  if (ftruncate(descriptor_, 0) != 0 ||
      pwrite(descriptor_, pid.data(), pid.size(), 0) != static_cast<ssize_t>(pid.size())) {
    fail(file + ": cannot write: " + std::strerror(errno));
  }
  remove_leftovers(folder);
}

FolderLock::~FolderLock() { close(descriptor_); }

void FolderLock::expect_held() const {
  struct stat held {};
  struct stat there {};
  const bool same = fstat(descriptor_, &held) == 0 && held.st_nlink > 0 &&
                    stat((folder_ / "lock").c_str(), &there) == 0 && held.st_ino == there.st_ino &&
                    held.st_dev == there.st_dev;
  if (same) return;
  throw Failure(folder_.string() + ": was removed or replaced, or its lock was, while " +
                "this process wrote there; what was not removed is as the last checkpoint left it");
}

void FolderLock::touch() const { futimens(descriptor_, nullptr); }

bool is_locked(const std::filesystem::path& folder) {
  const int descriptor = open((folder / "lock").c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (descriptor < 0) return false;
  const bool locked = flock(descriptor, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  close(descriptor);
  return locked;
}

std::optional<std::chrono::system_clock::time_point> last_touched(
    const std::filesystem::path& folder) {
  struct stat lock {};
  if (stat((folder / "lock").c_str(), &lock) != 0) return std::nullopt;
  const auto since_epoch =
      std::chrono::seconds(lock.st_mtim.tv_sec) + std::chrono::nanoseconds(lock.st_mtim.tv_nsec);
  return std::chrono::system_clock::time_point(
      std::chrono::duration_cast<std::chrono::system_clock::duration>(since_epoch));
}

}  // namespace transformer
