#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "transformer/config.h"

namespace transformer {

// The lines of a text file, or with "-" of standard input. Throws UserError as check_line does.
std::vector<std::string> read_lines(const std::filesystem::path& file);

// Line i of one is the translation of line i of the other.
struct ParallelText {
  std::vector<std::string> source;
  std::vector<std::string> target;
};

struct ParallelFiles {
  std::filesystem::path source;
  std::filesystem::path target;
};

// PREFIX.en and PREFIX.de, the languages being the config's. A missing file throws UserError, which
// says how to make it where data.make does.
ParallelFiles parallel_files(const std::string& prefix, const DataConfig& data);

// The lines of data.valid or data.test, every one of them. Throws UserError where the two files
// differ in their number of lines, and where a line is not UTF-8, with its number.
ParallelText read_parallel(const std::string& prefix, const DataConfig& data);

// Throws UserError with both files and counts unless the counts are equal.
void check_same_lines(const ParallelFiles& files, int64_t source_lines, int64_t target_lines);

// Throws UserError naming the file and the line unless it is UTF-8, and not too long to be taken
// apart (tokenizer.h).
void check_line(const std::string& line, const std::filesystem::path& file, int64_t number);

}  // namespace transformer
