#include "experiments/metrics.h"

#include "experiments/curves.h"
#include "experiments/learning_curve.h"
#include "experiments/run_log.h"
#include "tests/fuzz/targets.h"
#include "transformer/sealed_json.h"

namespace transformer::fuzz {

void metrics(const std::string& bytes) {
  const auto path = file_with("metrics.jsonl", bytes);
  const Metrics read = read_metrics(path);
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

}  // namespace transformer::fuzz
