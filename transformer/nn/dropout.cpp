#include "transformer/nn/dropout.h"

namespace transformer {

torch::Tensor drop(const torch::Tensor& x, double p, bool training) {
  return training && p > 0 ? at::dropout(x, p, training) : x;
}

}  // namespace transformer
