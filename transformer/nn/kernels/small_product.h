#pragma once

#include "transformer/nn/kernels/vectorized.h"

namespace transformer {

// A matrix as a kernel sees it: entry (i, j) is data[i * row + j * column].
struct Strided {
  const float* data;
  int64_t row;
  int64_t column;
};

// Products of matrices that stay in the first cache: one sentence's queries and keys.
//   C[m, n] (+)= sum over k of A[m, k] · B[k, n]
// B and C have their columns side by side; n is a multiple of kLanes.
template <int kRows, int kVectors>
TRANSFORMER_INLINE void product_tile(const Strided& a, const float* b, int64_t b_row, int64_t depth,
                                     float* c, int64_t c_row, bool add) {
  Floats sums[kRows][kVectors];
  for (int i = 0; i < kRows; ++i) {
    for (int j = 0; j < kVectors; ++j) {
      if (add) {
        load(sums[i][j], c + i * c_row + j * kLanes);
      } else {
        sums[i][j] = Floats{};
      }
    }
  }
  for (int64_t k = 0; k < depth; ++k) {
    Floats factors[kVectors];
    for (int j = 0; j < kVectors; ++j) load(factors[j], b + k * b_row + j * kLanes);
    for (int i = 0; i < kRows; ++i) {
      const float entry = a.data[i * a.row + k * a.column];
      for (int j = 0; j < kVectors; ++j) sums[i][j] += factors[j] * entry;
    }
  }
  for (int i = 0; i < kRows; ++i) {
    for (int j = 0; j < kVectors; ++j) store(c + i * c_row + j * kLanes, sums[i][j]);
  }
}

template <int kVectors>
TRANSFORMER_INLINE void product_columns(const Strided& a, int64_t rows, const float* b,
                                        int64_t b_row, int64_t depth, float* c, int64_t c_row,
                                        bool add) {
  int64_t i = 0;
  const auto rest = [&](int64_t at) { return Strided{a.data + at * a.row, a.row, a.column}; };
  for (; i + 6 <= rows; i += 6) {
    product_tile<6, kVectors>(rest(i), b, b_row, depth, c + i * c_row, c_row, add);
  }
  for (; i + 2 <= rows; i += 2) {
    product_tile<2, kVectors>(rest(i), b, b_row, depth, c + i * c_row, c_row, add);
  }
  if (i < rows) product_tile<1, kVectors>(rest(i), b, b_row, depth, c + i * c_row, c_row, add);
}

TRANSFORMER_INLINE void small_product(const Strided& a, int64_t rows, const float* b, int64_t b_row,
                                      int64_t depth, int64_t columns, float* c, int64_t c_row,
                                      bool add) {
  int64_t j = 0;
  for (; j + 2 * kLanes <= columns; j += 2 * kLanes) {
    product_columns<2>(a, rows, b + j, b_row, depth, c + j, c_row, add);
  }
  if (j < columns) product_columns<1>(a, rows, b + j, b_row, depth, c + j, c_row, add);
}

}  // namespace transformer
