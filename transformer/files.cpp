#include "transformer/files.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <deque>
#include <fstream>
#include <iostream>
#include <optional>
#include <sstream>
#include <string_view>

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

fs::path folder_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

// Where what is written to a path goes.
struct Place {
  enum class Kind { file, stream, descriptor };
  Kind kind = Kind::file;
  fs::path path{};      // links followed
  int descriptor = -1;  // one of this process, as /dev/stdout is
};

// Replacing the file that standard output goes into would not reach who holds it: what is behind
// /proc/self/fd is written through the descriptor itself.
std::optional<int> own_descriptor(const fs::path& path) {
  std::error_code none;
  const auto folder = fs::canonical(folder_of(path), none);
  const std::string name = path.filename().string();
  if (folder != "/proc/" + std::to_string(getpid()) + "/fd" || name.empty() || name.size() > 9 ||
      name.find_first_not_of("0123456789") != std::string::npos) {
    return std::nullopt;
  }
  return std::stoi(name);
}

Place place_of(const fs::path& path) {
  constexpr int kMostLinks = 40;
  std::error_code error;
  fs::path at = path;
  for (int links = 0; fs::is_symlink(fs::symlink_status(at, error)); ++links) {
    if (const auto descriptor = own_descriptor(at)) {
      return {Place::Kind::descriptor, path, *descriptor};
    }
    if (links == kMostLinks) fail(path, "cannot write", ELOOP);
    const fs::path target = fs::read_symlink(at, error);
    if (error) fail(path, "cannot follow the link", error.value());
    at = at.parent_path() / target;  // an absolute one replaces what stands before it
  }
  const auto refuse = [&](const char* kind) {
    throw UserError(shown_path(path) + ": expected a file to write; it is " + kind);
  };
  switch (fs::status(at, error).type()) {
    case fs::file_type::directory:
      refuse("a folder");
      break;
    case fs::file_type::block:
      refuse("a block device");
      break;
    case fs::file_type::socket:
      refuse("a socket");
      break;
    case fs::file_type::character:
    case fs::file_type::fifo:
      return {Place::Kind::stream, at};
    default:
      break;
  }
  return {Place::Kind::file, at};
}

void write_all(int descriptor, const std::string& bytes, const fs::path& path) {
  for (size_t done = 0; done < bytes.size();) {
    const ssize_t count = write(descriptor, bytes.data() + done, bytes.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail(path, "cannot write", errno);
    done += static_cast<size_t>(count);
  }
}

// A file on its way: written beside, then on the disk, then under its name.
class Output {
 public:
  explicit Output(const fs::path& path) : path_(path), place_(place_of(path)) {
    if (place_.kind != Place::Kind::file) return;
    temporary_.emplace(place_.path);
    remove_leftovers(folder_of(place_.path), {place_.path.filename().string()});
    errno = 0;
    file_.open(temporary_->path(), std::ios::binary | std::ios::trunc);
    if (!file_) fail(path_, "cannot write", errno);
  }

  std::ostream& stream() {
    return place_.kind == Place::Kind::file ? static_cast<std::ostream&>(file_) : bytes_;
  }

  void finish() {
    if (place_.kind != Place::Kind::file) return;
    file_.close();  // errno may be of an earlier write, which failed
    if (!file_) fail(path_, "cannot write", errno);
    sync(temporary_->path(), O_RDONLY);
  }

  void withdraw() {
    if (place_.kind != Place::Kind::file) return;
    std::error_code error;
    fs::remove(place_.path, error);
    if (error) fail(path_, "cannot remove", error.value());
  }

  void publish() {
    switch (place_.kind) {
      case Place::Kind::descriptor:
        if (place_.descriptor == STDOUT_FILENO) std::cout.flush();  // what was said before
        write_all(place_.descriptor, bytes_.str(), path_);
        return;
      case Place::Kind::stream: {
        const Descriptor file(open(place_.path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY));
        if (file < 0) fail(path_, "cannot write", errno);
        write_all(file, bytes_.str(), path_);
        return;
      }
      case Place::Kind::file:
        break;
    }
    std::error_code error;
    fs::rename(temporary_->path(), place_.path, error);
    if (error) fail(path_, "cannot rename into place", error.value());
    temporary_->release();
    sync_folder(folder_of(place_.path));
  }

 private:
  fs::path path_;
  Place place_;
  std::optional<TemporaryFile> temporary_;
  std::ofstream file_;
  std::ostringstream bytes_;
};

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

void write_files(const std::vector<fs::path>& paths,
                 const std::function<void(const std::vector<std::ostream*>&)>& write) {
  std::deque<Output> outputs;
  std::vector<std::ostream*> streams;
  for (const auto& path : paths) streams.push_back(&outputs.emplace_back(path).stream());
  write(streams);
  for (auto& output : outputs) output.finish();
  if (outputs.size() > 1) outputs.back().withdraw();
  for (auto& output : outputs) output.publish();
}

void write_file(const fs::path& path, const std::function<void(std::ostream&)>& write) {
  write_files({path}, [&](const std::vector<std::ostream*>& streams) { write(*streams.front()); });
}

void write_file(const fs::path& path, const std::string& bytes) {
  write_file(path, [&](std::ostream& out) {
    out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  });
}

void remove_leftovers(const fs::path& folder, const std::vector<std::string>& files) {
  constexpr std::string_view kTemporary = ".tmp-";
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    const size_t mark = name.rfind(kTemporary);
    if (mark == std::string::npos || std::ranges::count(files, name.substr(0, mark)) == 0) continue;
    const std::string digits = name.substr(mark + kTemporary.size());
    if (digits.empty() || digits.size() > 9 ||
        digits.find_first_not_of("0123456789") != std::string::npos) {
      continue;
    }
    const pid_t writer = std::stoi(digits);
    const bool runs = writer != getpid() && (kill(writer, 0) == 0 || errno != ESRCH);
    if (!runs && entry.is_regular_file(ignored)) fs::remove(entry.path(), ignored);
  }
}

bool is_place_of_file(const fs::path& path) { return place_of(path).kind == Place::Kind::file; }

void check_output(const fs::path& path, const OutputRules& rules) {
  const Place place = place_of(path);
  const std::string name = shown_path(path);
  if (place.kind != Place::Kind::file) {
    if (rules.content == Content::binary) {
      throw UserError(name + ": expected a file to write; it is a device or a pipe");
    }
    if (place.kind == Place::Kind::stream && access(path.c_str(), W_OK) != 0) {
      fail(path, "cannot write", errno);
    }
    return;
  }
  std::error_code none;
  for (const auto& input : rules.inputs) {
    if (fs::equivalent(input, place.path, none)) {
      throw UserError(name + ": is one of the files that it would be made from; name another");
    }
  }
  if (!rules.force && fs::exists(place.path, none)) {
    throw UserError(name + ": exists; " + rules.warning);
  }
  if (rules.makes_folder && !fs::exists(folder_of(place.path), none)) return;
  const TemporaryFile probe(place.path);
  const Descriptor file(open(probe.path().c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666));
  if (file < 0) fail(path, "cannot write", errno);
}

void sync_folder(const fs::path& folder) { sync(folder, O_RDONLY | O_DIRECTORY); }

void make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) fail(folder, "cannot create the folder", error.value());
}

}  // namespace transformer
