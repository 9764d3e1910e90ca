#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "transformer/config.h"
#include "transformer/json.h"

namespace transformer {

// metrics.jsonl or diagnostics.jsonl: one JSON object a line, each with its "step" and a "checksum"
// over the rest.
struct Metrics {
  std::vector<Json> lines;          // the sound ones, without their checksums
  std::vector<std::string> damage;  // in words, a line of the file each; one cut short is none
};

// Empty where there is no such file. Lines of earlier versions have no checksum: where none has
// one, each of numbers alone, but for the list of a diagnosis, is sound.
Metrics read_metrics(const std::filesystem::path& path);

// The lines that a training has to have left by the end of a step and that are not there, in words.
std::vector<std::string> missing_metrics(const std::vector<Json>& lines,
                                         const TrainingConfig& training, int64_t step,
                                         bool validation_due);
std::vector<std::string> missing_diagnostics(const std::vector<Json>& lines,
                                             const TrainingConfig& training, int64_t step);

class MetricsFile {
 public:
  using Tell = std::function<void(const std::string&)>;

  // Goes on with `kept`, and with nothing else that stands there. What the user should know is
  // told. Throws Failure.
  MetricsFile(std::filesystem::path path, const std::vector<Json>& kept, Tell tell = {});
  ~MetricsFile();
  MetricsFile(const MetricsFile&) = delete;
  MetricsFile& operator=(const MetricsFile&) = delete;

  // Durable when it returns. A file that was removed meanwhile is written again, whole. Throws
  // Failure.
  void append(const Json& line);

 private:
  void open();
  bool is_in_place() const;

  std::filesystem::path path_;
  Tell tell_;
  std::string written_;  // all of it
  int descriptor_ = -1;
};

}  // namespace transformer
