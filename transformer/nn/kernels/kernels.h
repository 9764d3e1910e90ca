#pragma once

#include <torch/types.h>

namespace transformer {

// The kernels of this folder are for float32 on the CPU. Whoever calls one has a path of ATen's
// operations for the rest.
inline bool has_kernels(const torch::Tensor& x) {
  return x.device().is_cpu() && x.scalar_type() == torch::kFloat;
}

}  // namespace transformer
