#include "experiments/curves.h"

#include "experiments/json_lines.h"

namespace transformer {

std::vector<std::pair<int64_t, double>> learning_curve(const std::filesystem::path& metrics,
                                                       const std::string& key, size_t most) {
  std::vector<std::pair<int64_t, double>> all;
  for (const auto& line : read_json_lines(metrics)) {
    const auto step = step_of(line);
    if (!step) continue;
    const auto value = line.json->find(key);
    if (value == line.json->end() || !value->is_number()) continue;
    all.emplace_back(*step, value->get<double>());
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
