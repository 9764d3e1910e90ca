#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

namespace transformer {

struct CurvePoint {
  int64_t step = 0;
  double perplexity = 0;
};

// What a run's metrics.jsonl tells of its learning, in the order of the steps.
struct LearningCurve {
  std::vector<CurvePoint> training;    // with dropout, over the steps since the point before
  std::vector<CurvePoint> validation;  // of data.valid, as the result's
};

// Empty where there is no file; lines that are not whole are left out.
LearningCurve read_learning_curve(const std::filesystem::path& metrics);

// The first step at which the perplexity is no more than this.
std::optional<int64_t> first_step_at(const std::vector<CurvePoint>& curve, double perplexity);

}  // namespace transformer
