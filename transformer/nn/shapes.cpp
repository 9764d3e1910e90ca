#include "transformer/nn/shapes.h"

#include <ATen/core/Tensor.h>

namespace transformer {

void expect_shape(const at::Tensor& tensor, c10::IntArrayRef expected, const char* what) {
  const auto sizes = tensor.sizes();
  bool fits = sizes.size() == expected.size();
  for (size_t i = 0; fits && i < sizes.size(); ++i) {
    fits = expected[i] == kAny || expected[i] == sizes[i];
  }
  TORCH_CHECK(fits, what, ": expected shape ", expected, " (-1: any), got ", sizes);
}

}  // namespace transformer
