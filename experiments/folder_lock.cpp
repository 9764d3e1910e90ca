#include "experiments/folder_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "transformer/error.h"

namespace transformer {

FolderLock::FolderLock(const std::filesystem::path& folder) {
  const auto file = folder / "lock";
  descriptor_ = open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (descriptor_ < 0) throw Failure(file.string() + ": cannot open: " + std::strerror(errno));
  if (flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
    char owner[32] = {};
    const ssize_t length = read(descriptor_, owner, sizeof owner - 1);
    close(descriptor_);
    throw Failure(folder.string() + ": in use by another process" +
                  (length > 0 ? " (pid " + std::string(owner, static_cast<size_t>(length)) + ")" : "") +
                  "; wait for it, or use another folder");
  }
  const std::string own = std::to_string(getpid());
  // Only for the message above: whether it can be written decides nothing.
  if (ftruncate(descriptor_, 0) == 0) [[maybe_unused]] const auto n = write(descriptor_, own.data(), own.size());
}

FolderLock::~FolderLock() { close(descriptor_); }

}  // namespace transformer
