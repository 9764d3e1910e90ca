#include "transformer/data/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include "transformer/data/stopped.h"
#include "transformer/error.h"

namespace transformer {

namespace {

// Asks again and again: a wait that a signal ends could miss one that came just before it.
void wait_for_lock(int descriptor, const std::filesystem::path& file,
                   const std::atomic<bool>* stop) {
  constexpr auto kPause = std::chrono::milliseconds(20);
  while (flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EINTR && errno != EWOULDBLOCK) {
      throw Failure(file.string() + ": cannot lock: " + std::strerror(errno));
    }
    heed(stop);
    std::this_thread::sleep_for(kPause);
  }
}

}  // namespace

FileLock::FileLock(const std::filesystem::path& file, const std::atomic<bool>* stop)
    : descriptor_(open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666)) {
  if (descriptor_ < 0) {
    throw Failure(file.string() + ": cannot create: " + std::strerror(errno));
  }
  try {
    wait_for_lock(descriptor_, file, stop);
  } catch (...) {
    close(descriptor_);
    throw;
  }
}

FileLock::~FileLock() { close(descriptor_); }

}  // namespace transformer
