#pragma once

// What a run tells while it goes on, read from its files by another process.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace transformer {

struct RunProgress {
  int64_t step = 0;
  double loss = 0;
  std::optional<double> tokens_per_second{};
  std::optional<double> perplexity{};  // of data.valid, where it was measured lately
};

// Of the last whole lines of a metrics.jsonl. Empty where there is none of a step yet.
std::optional<RunProgress> last_progress(const std::filesystem::path& metrics);

// The step of the newest checkpoint in a run's folder; 0 where there is none.
int64_t last_checkpoint(const std::filesystem::path& checkpoints);

// The last line of a log that says something, of what was written from byte `start` on. "" where
// there is none. Control characters are left out.
std::string last_line(const std::filesystem::path& log, int64_t start);

}  // namespace transformer
