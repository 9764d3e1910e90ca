#include "tools/commands/matrix_rate.h"

#include <ATen/Parallel.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/ones.h>

#include <algorithm>
#include <chrono>
#include <limits>

#include "transformer/clock.h"

namespace transformer {

double matrix_rate(int64_t rows, int64_t inner, int64_t columns) {
  constexpr int kProducts = 3;
  constexpr auto kLong = std::chrono::milliseconds(30);
  const int threads = at::get_num_threads();
  at::set_num_threads(1);
  const auto left = at::ones({rows, inner});
  const auto right = at::ones({inner, columns});
  double fastest = std::numeric_limits<double>::max();
  const auto start = Clock::now();
  for (int done = 0; done < kProducts || Clock::now() - start < kLong; ++done) {
    const auto before = Clock::now();
    at::matmul(left, right);
    fastest = std::min(fastest, seconds_since(before));
  }
  at::set_num_threads(threads);
  return 2.0 * static_cast<double>(rows) * static_cast<double>(inner) *
         static_cast<double>(columns) / fastest;
}

}  // namespace transformer
