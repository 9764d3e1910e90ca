#include "transformer/nn/dropout.h"

#include <torch/torch.h>

#include "transformer/nn/kernels/dropout_kernels.h"
#include "transformer/nn/kernels/kernels.h"

namespace transformer {

torch::Tensor drop(const torch::Tensor& x, double p, bool training) {
  if (!training || p <= 0) return x;
  return has_kernels(x) ? masked(x, p) : at::dropout(x, p, training);
}

torch::Tensor add_dropped(const torch::Tensor& x, const torch::Tensor& y, double p, bool training) {
  if (!training || p <= 0) return x + y;
  return has_kernels(x) && has_kernels(y) ? add_masked(x, y, p) : x + at::dropout(y, p, training);
}

}  // namespace transformer
