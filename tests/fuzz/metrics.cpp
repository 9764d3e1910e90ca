#include "experiments/metrics.h"

#include <algorithm>

#include "experiments/curves.h"
#include "experiments/json_lines.h"
#include "experiments/learning_curve.h"
#include "experiments/run_log.h"
#include "tests/fuzz/targets.h"
#include "transformer/sealed_json.h"

namespace transformer::fuzz {

namespace {

// With checksums that fit, as a stranger would write them: no fuzzer hits on them.
std::string with_sealed_lines(const std::vector<JsonLine>& lines) {
  std::string bytes;
  for (const auto& [text, json, is_cut] : lines) {
    bytes += json && json->is_object() ? text_of(sealed(*json)) : text;
    if (!is_cut) bytes += '\n';
  }
  return bytes;
}

void look_at(const std::filesystem::path& path, const Metrics& read) {
  for (const auto& line : read.lines) {
    const Json again = parse_json(text_of(sealed(line)), "as written");
    promise(unsealed(again, "as written") == line, "a sound line reads back as it was written");
  }
  constexpr int64_t kLastStep = 999'999'999;  // the last that a checkpoint's name has room for
  missing_metrics(read.lines, {}, kLastStep, false);
  missing_diagnostics(read.lines, {.diagnostics_every = 1}, kLastStep);
  read_learning_curve(path);
  learning_curve(path, "loss", 100);
  last_progress(path);
  last_line(path, 0);
}

}  // namespace

void metrics(const std::string& bytes) {
  const auto path = file_with("metrics.jsonl", bytes);
  look_at(path, read_metrics(path));
  const auto lines = read_json_lines(path);
  const auto again = file_with("sealed.jsonl", with_sealed_lines(lines));
  const Metrics read = read_metrics(again);
  look_at(again, read);
  promise(
      std::ranges::count_if(lines, [](const auto& line) { return step_of(line).has_value(); }) ==
          std::ssize(read.lines),
      "a line of a step that is sealed is sound");
}

}  // namespace transformer::fuzz
