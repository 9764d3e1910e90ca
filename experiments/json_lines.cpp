#include "experiments/json_lines.h"

#include <algorithm>
#include <limits>

#include "transformer/error.h"
#include "transformer/files.h"

namespace transformer {
namespace fs = std::filesystem;

std::vector<JsonLine> read_json_lines(const fs::path& path) {
  std::error_code unknown;
  const fs::file_status status = fs::status(path, unknown);
  if (!fs::exists(status)) return {};
  if (!fs::is_regular_file(status)) {
    throw UserError(shown_path(path) + ": expected a regular file; it is something else");
  }
  const std::string bytes = read_file(path, std::numeric_limits<size_t>::max());
  std::vector<JsonLine> lines;
  for (size_t start = 0; start < bytes.size();) {
    const size_t end = std::min(bytes.find('\n', start), bytes.size());
    std::string text = bytes.substr(start, end - start);
    auto json = json_in(text);
    lines.push_back({std::move(text), std::move(json), end == bytes.size()});
    start = end + 1;
  }
  return lines;
}

std::optional<int64_t> step_of(const JsonLine& line) {
  if (!line.json || !line.json->is_object()) return std::nullopt;
  const auto step = line.json->find("step");
  if (step == line.json->end() || !step->is_number_integer()) return std::nullopt;
  return step->get<int64_t>();
}

}  // namespace transformer
