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

// The text, unless it is something else.
InputFile open_text(const fs::path& path) {
  std::error_code unknown;
  const auto name = shown_path(path);
  const auto type = fs::status(path, unknown).type();
  if (type == fs::file_type::directory) {
    throw UserError(name + ": expected a text file; it is a folder");
  }
  if (type == fs::file_type::character || type == fs::file_type::block) {
    throw UserError(name + ": expected a text file; it is a device");
  }
  return InputFile(path);
}

}  // namespace

LineReader::LineReader(const fs::path& path, const std::atomic<bool>* stop)
    : input_(path == "-" ? InputFile::standard_input() : open_text(path)), stop_(stop) {}

bool LineReader::next(std::string& line) {
  while (!find_end()) {
    if (has_ended_) return false;
    fill();
  }
  if (stop_ != nullptr && stop_->load()) return false;
  line.assign(buffer_, start_, end_ - start_);
  start_ = ++end_;
  if (!line.empty() && line.back() == '\r') line.pop_back();
  if (++number_ == 1 && line.compare(0, 3, "\xef\xbb\xbf") == 0) line.erase(0, 3);
  return true;
}

bool LineReader::has_next() {
  while (!find_end()) {
    if (has_ended_ || input_.is_waiting()) return false;
    fill();
  }
  return true;
}

bool LineReader::find_end() {
  const size_t found = buffer_.find('\n', end_);
  end_ = std::min(found, buffer_.size());
  return found != std::string::npos;
}

void LineReader::fill() {
  constexpr size_t kBlock = 1 << 16;
  buffer_.erase(0, start_);
  end_ -= start_;
  start_ = 0;
  if (end_ > kLongestLine) {
    throw UserError(name() + ": line " + std::to_string(number_ + 1) + ": expected at most " +
                    std::to_string(kLongestLine) + " bytes; it has more");
  }
  const size_t kept = buffer_.size();
  buffer_.resize(kept + kBlock);
  const size_t count = input_.read(buffer_.data() + kept, kBlock, stop_);
  buffer_.resize(kept + count);
  if (count > 0) return;
  has_ended_ = true;
  if (kept > 0) buffer_ += '\n';  // a last line without its end
}

TextFile scan_text(const fs::path& path) {
  std::error_code unknown;
  if (fs::exists(path, unknown) && !fs::is_regular_file(path, unknown)) {  // it is read again later
    throw UserError(shown_path(path) + ": expected a regular text file; it is something else");
  }
  InputFile in = open_text(path);
  TextFile file;
  Checksum checksum;
  std::vector<char> buffer(1 << 20);
  char last = '\n';
  while (const size_t count = in.read(buffer.data(), buffer.size())) {
    const auto end = buffer.begin() + static_cast<std::ptrdiff_t>(count);
    file.lines += std::count(buffer.begin(), end, '\n');
    checksum.add({buffer.data(), count});
    last = *(end - 1);
  }
  file.lines += last == '\n' ? 0 : 1;
  file.fingerprint = hexadecimal(checksum.value());
  return file;
}

FileStamp stamp_of(const fs::path& path) {
  struct stat status = {};
  if (stat(path.c_str(), &status) != 0) {
    throw UserError(shown_path(path) + ": cannot open: " + std::strerror(errno));
  }
  return {status.st_size, status.st_mtim.tv_sec * 1'000'000'000 + status.st_mtim.tv_nsec};
}

}  // namespace transformer
