#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <string>

#include "transformer/files.h"

namespace transformer {

// Reads text line by line: a file, or with "-" standard input, whose lines are given as they come.
// A line ends with LF or CRLF, which it is given without; a byte order mark at the start of the
// text is left out.
class LineReader {
 public:
  // Throws UserError where it cannot be opened. Once `stop` is true the text ends.
  explicit LineReader(const std::filesystem::path& path, const std::atomic<bool>* stop = nullptr);

  // False at the end. Throws UserError where the text cannot be read, and at a line of more than
  // kLongestLine bytes, endless ones included.
  bool next(std::string& line);
  bool has_next();  // whether a whole line is there, so that next would not wait

  int64_t number() const { return number_; }                 // of the line just read, from 1
  const std::string& name() const { return input_.name(); }  // as messages have it

  static constexpr size_t kLongestLine = size_t{64} << 20;

 private:
  bool find_end();
  void fill();

  InputFile input_;
  const std::atomic<bool>* stop_;
  std::string buffer_;
  size_t start_ = 0;  // of the next line
  size_t end_ = 0;    // where it ends, or as far as there is no end
  bool has_ended_ = false;
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
