#include "experiments/curves.h"

#include <fstream>

#include "transformer/json.h"

namespace transformer {

std::vector<std::pair<int64_t, double>> learning_curve(const std::filesystem::path& metrics,
                                                       const std::string& key, size_t most) {
  std::vector<std::pair<int64_t, double>> all;
  std::ifstream in(metrics);
  for (std::string line; std::getline(in, line);) {
    const Json json = Json::parse(line, nullptr, false);
    if (!json.is_object() || !json.contains(key) || !json[key].is_number()) continue;
    if (!json.contains("step") || !json["step"].is_number_integer()) continue;
    all.emplace_back(json["step"].get<int64_t>(), json[key].get<double>());
  }
  if (all.size() <= most) return all;
  const size_t every = (all.size() + most - 1) / most;
  std::vector<std::pair<int64_t, double>> kept;
  for (size_t i = 0; i < all.size(); ++i) {
    if ((all.size() - 1 - i) % every == 0) kept.push_back(all[i]);
  }
  return kept;
}

}  // namespace transformer
