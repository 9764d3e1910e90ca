#include "transformer/analysis/mask_weights.h"

#include "transformer/nn/scaled_dot_product.h"

namespace transformer {

torch::Tensor mask_weights(const Mask& mask, int64_t batch, int64_t queries, int64_t keys) {
  const auto same = [&](int64_t time) { return torch::zeros({batch, 1, time, 1}); };
  return scaled_dot_product_with_weights(same(queries), same(keys), same(keys), mask)
      .weights.squeeze(1);
}

}  // namespace transformer
