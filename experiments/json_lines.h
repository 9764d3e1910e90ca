#pragma once

// metrics.jsonl and diagnostics.jsonl as text: a JSON value a line.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "transformer/json.h"

namespace transformer {

struct JsonLine {
  std::string text;          // without its end
  std::optional<Json> json;  // none where it is not JSON
  bool is_cut = false;       // the last, without its end
};

// Empty where there is no such file. Throws UserError where it is no regular file, which might have
// no end, or cannot be read.
std::vector<JsonLine> read_json_lines(const std::filesystem::path& path);

// Of an object that has a whole number there; none of what else a line may be.
std::optional<int64_t> step_of(const JsonLine& line);

}  // namespace transformer
