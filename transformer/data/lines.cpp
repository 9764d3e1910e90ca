#include "transformer/data/lines.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "transformer/error.h"
#include "transformer/files.h"
#include "transformer/fingerprint.h"

namespace transformer {
namespace fs = std::filesystem;

namespace {

std::ifstream open_text(const fs::path& path) {
  std::error_code error;
  const auto name = shown_path(path);
  const auto type = fs::status(path, error).type();
  if (type == fs::file_type::directory) {
    throw UserError(name + ": expected a text file; it is a folder");
  }
  if (type == fs::file_type::character || type == fs::file_type::block) {
    throw UserError(name + ": expected a text file; it is a device");
  }
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  if (!in) throw UserError(name + ": cannot open: " + std::strerror(errno));
  return in;
}

void check_read(const std::ifstream& in, const fs::path& path) {
  if (in.bad()) throw UserError(path.string() + ": cannot read: " + std::strerror(errno));
}

}  // namespace

LineReader::LineReader(const fs::path& path) : path_(path), in_(open_text(path)) {}

bool LineReader::next(std::string& line) {
  if (!std::getline(in_, line)) {
    check_read(in_, path_);
    return false;
  }
  if (!line.empty() && line.back() == '\r') line.pop_back();
  if (++number_ == 1 && line.compare(0, 3, "\xef\xbb\xbf") == 0) line.erase(0, 3);
  return true;
}

TextFile scan_text(const fs::path& path) {
  std::error_code error;
  if (fs::exists(path, error) && !fs::is_regular_file(path, error)) {  // it is read again later
    throw UserError(shown_path(path) + ": expected a regular text file; it is something else");
  }
  auto in = open_text(path);
  TextFile file;
  Checksum checksum;
  std::vector<char> buffer(1 << 20);
  char last = '\n';
  while (in.read(buffer.data(), static_cast<std::streamsize>(buffer.size())), in.gcount() > 0) {
    const auto end = buffer.begin() + in.gcount();
    file.lines += std::count(buffer.begin(), end, '\n');
    checksum.add({buffer.data(), static_cast<size_t>(in.gcount())});
    last = *(end - 1);
  }
  check_read(in, path);
  file.lines += last == '\n' ? 0 : 1;
  file.fingerprint = hexadecimal(checksum.value());
  return file;
}

FileStamp stamp_of(const fs::path& path) {
  struct stat status = {};
  if (stat(path.c_str(), &status) != 0) {
    throw UserError(path.string() + ": cannot open: " + std::strerror(errno));
  }
  return {status.st_size, status.st_mtim.tv_sec * 1'000'000'000 + status.st_mtim.tv_nsec};
}

}  // namespace transformer
