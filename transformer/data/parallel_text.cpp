#include "transformer/data/parallel_text.h"

#include "transformer/data/lines.h"
#include "transformer/data/tokenizer.h"
#include "transformer/printable.h"
#include "transformer/utf8.h"

namespace transformer {
namespace fs = std::filesystem;

std::vector<std::string> read_lines(const fs::path& file) {
  std::vector<std::string> lines;
  LineReader reader(file);
  for (std::string line; reader.next(line);) {
    check_line(line, reader.name(), reader.number());
    lines.push_back(line);
  }
  return lines;
}

ParallelFiles parallel_files(const std::string& prefix, const DataConfig& data) {
  const ParallelFiles files{prefix + "." + data.source_language,
                            prefix + "." + data.target_language};
  for (const auto& file : {files.source, files.target}) {
    std::error_code error;
    if (fs::exists(file, error)) continue;
    throw UserError(file.string() + ": expected a text file; it does not exist" +
                    (data.make.empty() ? "" : "; make it with: " + printable(data.make, 300)));
  }
  return files;
}

ParallelText read_parallel(const std::string& prefix, const DataConfig& data) {
  const auto files = parallel_files(prefix, data);
  ParallelText text{read_lines(files.source), read_lines(files.target)};
  check_same_lines(files, static_cast<int64_t>(text.source.size()),
                   static_cast<int64_t>(text.target.size()));
  return text;
}

void check_same_lines(const ParallelFiles& files, int64_t source_lines, int64_t target_lines) {
  if (source_lines == target_lines) return;
  throw UserError(files.source.string() + ": expected as many lines as " + files.target.string() +
                  ", line by line its translation; got " + std::to_string(source_lines) + " and " +
                  std::to_string(target_lines));
}

void check_line(const std::string& line, const fs::path& file, int64_t number) {
  if (const auto problem = too_many_bytes(line)) {
    throw UserError(file.string() + ": line " + std::to_string(number) + ": " + *problem);
  }
  if (is_utf8(line)) return;
  throw UserError(file.string() + ": line " + std::to_string(number) +
                  ": expected UTF-8; the line is not");
}

}  // namespace transformer
