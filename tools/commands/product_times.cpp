#include "tools/commands/product_times.h"

#include <torch/torch.h>

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

#include "transformer/clock.h"

namespace transformer {

namespace {

double time_of(const Product& product, const torch::TensorOptions& options, int64_t repeats) {
  const bool is_transposed_left = product.layout == Product::Layout::by_weight;
  const bool is_transposed_right = product.layout == Product::Layout::forward;
  const auto operand = [&](int64_t rows, int64_t columns, bool transposed) {
    return transposed ? torch::randn({columns, rows}, options).t()
                      : torch::randn({rows, columns}, options);
  };
  const auto left = operand(product.rows, product.inner, is_transposed_left);
  const auto right = operand(product.inner, product.columns, is_transposed_right);
  auto out = torch::empty({product.rows, product.columns}, options);
  double least = std::numeric_limits<double>::max();
  for (int64_t i = 0; i <= repeats; ++i) {
    const auto start = Clock::now();
    torch::mm_out(out, left, right);
    if (options.device().is_cuda()) torch::cuda::synchronize();
    const double seconds = seconds_since(start);
    if (i > 0) least = std::min(least, seconds);
  }
  return least;
}

}  // namespace

std::vector<double> product_times(const std::vector<Product>& products, const torch::Device& device,
                                  torch::ScalarType type, int64_t repeats) {
  const torch::NoGradGuard no_grad;
  const auto options = torch::TensorOptions().device(device).dtype(type);
  std::map<std::tuple<Product::Layout, int64_t, int64_t, int64_t>, double> known;
  std::vector<double> times;
  for (const auto& product : products) {
    const std::tuple shape(product.layout, product.rows, product.inner, product.columns);
    if (!known.contains(shape)) known[shape] = time_of(product, options, repeats);
    times.push_back(known[shape]);
  }
  return times;
}

}  // namespace transformer
