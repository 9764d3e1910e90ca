#include "experiments/learning_curve.h"

#include <cmath>

#include "experiments/json_lines.h"

namespace transformer {

LearningCurve read_learning_curve(const std::filesystem::path& metrics) {
  LearningCurve curve;
  for (const auto& line : read_json_lines(metrics)) {
    const auto step = step_of(line);
    if (!step) continue;
    const Json& json = *line.json;
    const auto number = [&](const char* key) {
      return json.contains(key) && json[key].is_number();
    };
    if (number("nll")) curve.training.push_back({*step, std::exp(json["nll"].get<double>())});
    if (number("valid_perplexity")) {
      curve.validation.push_back({*step, json["valid_perplexity"].get<double>()});
    }
  }
  return curve;
}

std::optional<int64_t> first_step_at(const std::vector<CurvePoint>& curve, double perplexity) {
  for (const auto& point : curve) {
    if (point.perplexity <= perplexity) return point.step;
  }
  return std::nullopt;
}

}  // namespace transformer
