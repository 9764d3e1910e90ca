#include "transformer/data/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "transformer/error.h"

namespace transformer {

FileLock::FileLock(const std::filesystem::path& file)
    : descriptor_(open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666)) {
  if (descriptor_ < 0) {
    throw Failure(file.string() + ": cannot create: " + std::strerror(errno));
  }
  while (flock(descriptor_, LOCK_EX) != 0) {
    if (errno == EINTR) continue;
    const int error = errno;
    close(descriptor_);
    throw Failure(file.string() + ": cannot lock: " + std::strerror(error));
  }
}

FileLock::~FileLock() { close(descriptor_); }

}  // namespace transformer
