#include "transformer/analysis/position_products.h"

namespace transformer {

std::vector<PositionProducts> position_products(const torch::Tensor& table) {
  const auto rows = table.to(torch::kDouble);
  const auto products = rows.matmul(rows.t());  // [length, length]
  std::vector<PositionProducts> all;
  for (int64_t distance = 0; distance < rows.size(0); ++distance) {
    const auto apart = products.diagonal(distance);
    all.push_back(
        {apart.min().item<double>(), apart.mean().item<double>(), apart.max().item<double>()});
  }
  return all;
}

}  // namespace transformer
