#pragma once

#include <torch/types.h>

#include <memory>

#include "transformer/config.h"

namespace transformer {

// Throws UserError where the device has no such products.
void expect_precision(Precision precision, const torch::Device& device);

// While it lives, matrix products are computed with this precision. bfloat16 on a CPU: operands are
// rounded to bfloat16 (8 bits of mantissa), their products added up in float32, results float32; by
// oneDNN, where the processor has instructions for it. On other devices: LibTorch's autocast.
// Weights, gradients, softmax, norms, loss and optimizer are float32 with both. A setting of the
// whole process. Throws as expect_precision does.
class ProductPrecision {
 public:
  ProductPrecision(Precision precision, const torch::Device& device);
  ~ProductPrecision();
  ProductPrecision(const ProductPrecision&) = delete;
  ProductPrecision& operator=(const ProductPrecision&) = delete;

 private:
  struct Setting;
  std::unique_ptr<Setting> setting_;  // null where nothing is to be put back
};

}  // namespace transformer
