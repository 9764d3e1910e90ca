#include "transformer/files.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <vector>

#include "transformer/error.h"
#include "transformer/printable.h"

namespace transformer {
namespace fs = std::filesystem;

namespace {

[[noreturn]] void fail(const fs::path& path, const std::string& what, int error) {
  throw Failure(shown_path(path) + ": " + what + ": " + std::strerror(error));
}

class Descriptor {
 public:
  explicit Descriptor(int value) : value_(value) {}
  ~Descriptor() {
    if (value_ >= 0) close(value_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  operator int() const { return value_; }  // NOLINT: stands where a descriptor does

 private:
  int value_;
};

// Removes the half-written file unless the rename went through.
class TemporaryFile {
 public:
  explicit TemporaryFile(const fs::path& target)
      : path_(target.string() + ".tmp-" + std::to_string(getpid())) {}
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove(path_, ignored);
  }
  const fs::path& path() const { return path_; }
  void release() { path_.clear(); }

 private:
  fs::path path_;
};

void sync(const fs::path& path, int flags) {
  const int descriptor = open(path.c_str(), flags | O_CLOEXEC);
  if (descriptor < 0) fail(path, "cannot open", errno);
  const int failed = fsync(descriptor);
  const int error = errno;
  close(descriptor);
  if (failed != 0) fail(path, "cannot write to disk", error);
}

}  // namespace

std::string shown_path(const fs::path& path) {
  constexpr size_t kMost = 1000;
  return path.empty() ? "\"\" (an empty path)" : printable(path.string(), kMost);
}

std::string read_file(const fs::path& path, size_t most) {
  const std::string name = shown_path(path);
  std::error_code unknown;
  if (fs::is_directory(path, unknown)) throw UserError(name + ": expected a file; it is a folder");
  // Without waiting: a pipe that nobody writes to would never open.
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file < 0) throw UserError(name + ": cannot open: " + std::strerror(errno));
  std::string bytes;
  std::vector<char> buffer(1 << 16);
  while (true) {
    const ssize_t count = read(file, buffer.data(), buffer.size());
    if (count == 0) break;
    if (count > 0) {
      bytes.append(buffer.data(), static_cast<size_t>(count));
    } else if (errno == EAGAIN) {
      pollfd input{file, POLLIN, 0};
      poll(&input, 1, -1);
    } else if (errno != EINTR) {
      throw UserError(name + ": cannot read: " + std::strerror(errno));
    }
    if (bytes.size() > most) {
      throw UserError(name + ": expected at most " + std::to_string(most) + " bytes; it has more");
    }
  }
  if (bytes.empty() && fs::is_fifo(path, unknown)) {
    throw UserError(name + ": expected a file; it is a pipe that nobody writes to");
  }
  return bytes;
}

void write_file(const fs::path& path, const std::function<void(std::ostream&)>& write) {
  TemporaryFile temporary(path);
  {
    errno = 0;
    std::ofstream out(temporary.path(), std::ios::binary | std::ios::trunc);
    if (!out) fail(path, "cannot write", errno);
    write(out);
    out.flush();
    if (!out) fail(path, "cannot write", errno);
  }
  sync(temporary.path(), O_RDONLY);
  std::error_code error;
  fs::rename(temporary.path(), path, error);
  if (error) fail(path, "cannot rename into place", error.value());
  temporary.release();
  sync_folder(path.has_parent_path() ? path.parent_path() : fs::path("."));
}

void write_file(const fs::path& path, const std::string& bytes) {
  write_file(path, [&](std::ostream& out) {
    out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  });
}

void sync_folder(const fs::path& folder) { sync(folder, O_RDONLY | O_DIRECTORY); }

void make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) fail(folder, "cannot create the folder", error.value());
}

}  // namespace transformer
