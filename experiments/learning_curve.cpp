#include "experiments/learning_curve.h"

#include <cmath>
#include <fstream>
#include <string>

#include "transformer/json.h"

namespace transformer {

LearningCurve read_learning_curve(const std::filesystem::path& metrics) {
  LearningCurve curve;
  std::ifstream in(metrics, std::ios::binary);
  for (std::string line; std::getline(in, line);) {
    const Json json = Json::parse(line, nullptr, false);
    if (!json.is_object() || !json.contains("step") || !json["step"].is_number_integer()) continue;
    const auto number = [&](const char* key) {
      return json.contains(key) && json[key].is_number();
    };
    const auto step = json["step"].get<int64_t>();
    if (number("nll")) curve.training.push_back({step, std::exp(json["nll"].get<double>())});
    if (number("valid_perplexity")) {
      curve.validation.push_back({step, json["valid_perplexity"].get<double>()});
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
