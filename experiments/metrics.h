#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>

#include "transformer/json.h"

namespace transformer {

// metrics.jsonl or diagnostics.jsonl: one JSON object a line, each with its "step". Lines are
// flushed as they are written.
class MetricsFile {
 public:
  // Lines of later steps than `step`, and a last line cut short, are left from before an
  // interruption; they are dropped, so that no step stands twice. Throws Failure.
  MetricsFile(const std::filesystem::path& path, int64_t step);

  void append(const Json& line);

 private:
  std::filesystem::path path_;
  std::ofstream out_;
};

}  // namespace transformer
