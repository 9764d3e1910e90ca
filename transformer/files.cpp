#include "transformer/files.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
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

bool is_pipe(int descriptor) {
  struct stat status = {};
  return fstat(descriptor, &status) == 0 && S_ISFIFO(status.st_mode);
}

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

InputFile::InputFile(const fs::path& path) : name_(shown_path(path)) {
  std::error_code unknown;
  if (fs::is_directory(path, unknown)) throw UserError(name_ + ": expected a file; it is a folder");
  // Without waiting: a pipe that nobody writes to would never open.
  descriptor_ = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor_ < 0) throw UserError(name_ + ": cannot open: " + std::strerror(errno));
}

InputFile InputFile::standard_input() { return {STDIN_FILENO, "standard input"}; }

InputFile::~InputFile() {
  if (descriptor_ != STDIN_FILENO) close(descriptor_);
}

size_t InputFile::read(char* bytes, size_t most, const std::atomic<bool>* stop) {
  constexpr int kLook = 200;  // milliseconds: a signal may come just before the wait
  while (stop == nullptr || !stop->load()) {
    pollfd input{descriptor_, POLLIN, 0};
    if (stop != nullptr && poll(&input, 1, kLook) <= 0) continue;
    const ssize_t count = ::read(descriptor_, bytes, most);
    if (count > 0) is_empty_ = false;
    if (count == 0 && is_empty_ && descriptor_ != STDIN_FILENO && is_pipe(descriptor_)) {
      throw UserError(name_ + ": expected a file; it is a pipe that nobody writes to");
    }
    if (count >= 0) return static_cast<size_t>(count);
    if (errno == EAGAIN) {
      poll(&input, 1, stop == nullptr ? -1 : kLook);
    } else if (errno != EINTR) {
      throw UserError(name_ + ": cannot read: " + std::strerror(errno));
    }
  }
  return 0;
}

bool InputFile::is_waiting() const {
  pollfd input{descriptor_, POLLIN, 0};
  return poll(&input, 1, 0) <= 0;
}

std::string read_file(const fs::path& path, size_t most) {
  InputFile file(path);
  std::string bytes;
  std::vector<char> buffer(1 << 16);
  while (const size_t count = file.read(buffer.data(), buffer.size())) {
    bytes.append(buffer.data(), count);
    if (bytes.size() > most) {
      throw UserError(file.name() + ": expected at most " + std::to_string(most) +
                      " bytes; it has more");
    }
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
