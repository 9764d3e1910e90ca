#include "transformer/nn/kernels/dropout_key.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Parallel.h>
#include <torch/torch.h>

#include <algorithm>
#include <mutex>

namespace transformer {

uint64_t draw_dropout_key(double p) {
  if (p <= 0) return 0;
  auto generator = at::detail::getDefaultCPUGenerator();
  const std::lock_guard<std::mutex> lock(generator.mutex());
  return at::check_generator<at::CPUGeneratorImpl>(generator)->random64();
}

void add_masked_to(const float* add, const float* x, const RandomMask& mask, int64_t count,
                   float* to) {
  at::parallel_for(0, (count + kLanes - 1) / kLanes, 2048, [&](int64_t begin, int64_t end) {
    vectorized([&]() __attribute__((always_inline)) {
      for (int64_t i = begin * kLanes; i < std::min(end * kLanes, count); i += kLanes) {
        Floats value, factor, base{};
        load_some(value, x + i, count - i);
        mask.factors(i, factor);
        if (add != nullptr) load_some(base, add + i, count - i);
        store_some(to + i, base + value * factor, count - i);
      }
    });
  });
}

torch::Tensor masked_by(const torch::Tensor& x, const RandomMask& mask) {
  const auto from = x.contiguous();
  auto to = torch::empty_like(from);
  add_masked_to(nullptr, from.const_data_ptr<float>(), mask, from.numel(), to.data_ptr<float>());
  return to;
}

}  // namespace transformer
