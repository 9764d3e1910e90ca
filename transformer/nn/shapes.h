#pragma once

#include <c10/util/ArrayRef.h>

#include <cstdint>

namespace at {
class Tensor;
}

namespace transformer {

constexpr int64_t kAny = -1;

// The contract in a header, executed: throws c10::Error with "WHAT: expected shape [-1, 8] (-1:
// any), got [2, 7]" unless every size is the expected one or that is kAny.
void expect_shape(const at::Tensor& tensor, c10::IntArrayRef expected, const char* what);

}  // namespace transformer
