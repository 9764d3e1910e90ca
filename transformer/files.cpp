#include "transformer/files.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "transformer/error.h"

namespace transformer {
namespace fs = std::filesystem;

namespace {

[[noreturn]] void fail(const fs::path& path, const std::string& what, int error) {
  throw Failure(path.string() + ": " + what + ": " + std::strerror(error));
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

void sync(const fs::path& path, int flags) {
  const int descriptor = open(path.c_str(), flags | O_CLOEXEC);
  if (descriptor < 0) fail(path, "cannot open", errno);
  const int failed = fsync(descriptor);
  const int error = errno;
  close(descriptor);
  if (failed != 0) fail(path, "cannot write to disk", error);
}

}  // namespace

std::string read_file(const fs::path& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) {
    throw UserError(path.string() + ": expected a file; it is a folder");
  }
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  if (!in) throw UserError(path.string() + ": cannot open: " + std::strerror(errno));
  std::ostringstream bytes;
  bytes << in.rdbuf();
  if (in.bad()) throw UserError(path.string() + ": cannot read: " + std::strerror(errno));
  return std::move(bytes).str();
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
