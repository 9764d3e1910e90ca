#pragma once

#include <torch/types.h>

#include <vector>

#include "transformer/analysis/products.h"

namespace transformer {

// Seconds that one of each product takes on a device, the least of `repeats` after one that does
// not count.
std::vector<double> product_times(const std::vector<Product>& products, const torch::Device& device,
                                  torch::ScalarType type, int64_t repeats);

}  // namespace transformer
