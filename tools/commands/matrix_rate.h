#pragma once

#include <cstdint>

namespace transformer {

// Floating-point operations a second of one core at the float32 product [rows, inner] × [inner,
// columns]. A multiply-add counts two. The fastest of the products that fit into some hundredths of
// a second, so that other work on the machine matters little.
double matrix_rate(int64_t rows, int64_t inner, int64_t columns);

}  // namespace transformer
