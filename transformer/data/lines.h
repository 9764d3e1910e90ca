#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

namespace transformer {

// Reads a text file line by line. A line ends with LF or CRLF, which it is given without; a byte
// order mark at the start of the file is left out.
class LineReader {
 public:
  explicit LineReader(const std::filesystem::path& path);  // UserError where it cannot be opened
  bool next(std::string& line);  // false at the end; UserError where the file cannot be read
  int64_t number() const { return number_; }  // of the line just read, from 1

 private:
  std::filesystem::path path_;
  std::ifstream in_;
  int64_t number_ = 0;
};

// What tells one version of a text file from another.
struct TextFile {
  int64_t lines = 0;        // as many as LineReader gives
  std::string fingerprint;  // of the bytes
};

// Reads the file once, in little memory. Throws UserError.
TextFile scan_text(const std::filesystem::path& path);

// Size in bytes and the time of the last change in nanoseconds. Throws UserError where there is no
// file.
struct FileStamp {
  int64_t size = 0;
  int64_t modified = 0;
};
FileStamp stamp_of(const std::filesystem::path& path);

}  // namespace transformer
