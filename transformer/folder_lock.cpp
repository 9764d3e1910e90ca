#include "transformer/folder_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>

#include "transformer/error.h"
#include "transformer/files.h"
#include "transformer/printable.h"

namespace transformer {

namespace {

constexpr const char* kMark = " transformer\n";  // after the holder's process id

std::string own_machine() {
  char name[256] = {};
  return gethostname(name, sizeof name - 1) == 0 ? name : "";
}

// A line each: who holds it, what the folder is for, and on which machine the holder is.
std::string text_of_lock(pid_t holder, const std::string& holds) {
  return std::to_string(holder) + kMark + holds + "\n" + own_machine() + "\n";
}

// Nothing where it cannot be read.
std::optional<std::string> read_lock(const std::filesystem::path& file) {
  const int descriptor = open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  char bytes[512] = {};
  const ssize_t count = descriptor < 0 ? -1 : pread(descriptor, bytes, sizeof bytes, 0);
  if (descriptor >= 0) close(descriptor);
  if (count < 0) return std::nullopt;
  return std::string(bytes, static_cast<size_t>(count));
}

// As the holder wrote: its process id, and its machine where that is another one, which sees the
// folder too. Empty while it is about to write.
std::string holder(const std::filesystem::path& file) {
  std::istringstream lines(read_lock(file).value_or(""));
  std::string first, holds, machine;
  std::getline(lines, first);
  std::getline(lines, holds);
  std::getline(lines, machine);
  const std::string id = first.substr(0, first.find_first_not_of("0123456789"));
  const bool is_elsewhere = !machine.empty() && machine != own_machine();
  return id + (is_elsewhere ? " on " + printable(machine) : "");
}

}  // namespace

FolderLock::FolderLock(const std::filesystem::path& folder, const std::vector<std::string>& files,
                       const std::string& holds)
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
    const std::string who = holder(file);
    fail(folder.string() + ": in use by another process" + (who.empty() ? "" : " (" + who + ")") +
         "; wait for it, or stop it, or take another folder");
  }
  // Never emptied: killed here, the process leaves a folder that is known for this program's.
  const std::string text = text_of_lock(getpid(), holds.empty() ? held_by(folder) : holds);
  if (pwrite(descriptor_, text.data(), text.size(), 0) != std::ssize(text) ||
      ftruncate(descriptor_, std::ssize(text)) != 0 || fsync(descriptor_) != 0) {
    fail(file + ": cannot write: " + std::strerror(errno));
  }
  remove_leftovers(folder, files);
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
  const int descriptor =
      open((folder / "lock").c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
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

LockFile lock_file_in(const std::filesystem::path& folder) {
  const auto file = folder / "lock";
  std::error_code none;
  const auto type = std::filesystem::symlink_status(file, none).type();
  if (type == std::filesystem::file_type::not_found) return LockFile::missing;
  if (type != std::filesystem::file_type::regular) return LockFile::foreign;
  const auto read = read_lock(file);
  if (!read) return LockFile::ours;  // locking it will say why it cannot be read
  const std::string& text = *read;
  if (text.empty()) return LockFile::empty;
  const size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const std::string rest = text.substr(digits);
  if (digits == 0) return LockFile::foreign;
  if (rest.starts_with(kMark)) return LockFile::ours;
  return rest == "\n" ? LockFile::of_earlier_version : LockFile::foreign;
}

std::string held_by(const std::filesystem::path& folder) {
  const std::string text = read_lock(folder / "lock").value_or("");
  const size_t mark = text.find(kMark);
  if (mark == std::string::npos) return "";
  const std::string rest = text.substr(mark + std::string_view(kMark).size());
  return rest.substr(0, rest.find('\n'));
}

void mark_folder(const std::filesystem::path& folder, const std::string& holds) {
  const auto file = folder / "lock";
  const int descriptor = open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
  struct stat status = {};
  const std::string text = text_of_lock(0, holds);
  const bool done =
      descriptor >= 0 && fstat(descriptor, &status) == 0 &&
      (status.st_size > 0 || (pwrite(descriptor, text.data(), text.size(), 0) == std::ssize(text) &&
                              fsync(descriptor) == 0));
  const int error = errno;
  if (descriptor >= 0) close(descriptor);
  if (!done) throw Failure(file.string() + ": cannot write: " + std::strerror(error));
}

}  // namespace transformer
