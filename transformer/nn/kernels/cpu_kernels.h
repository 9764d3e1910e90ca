#pragma once

#include <cstdint>
#include <vector>

namespace transformer {

// out = x · weightᵀ + bias, the weight in panels: `panel` columns of the result after each other,
// and of each panel the `panel` numbers of inner = 0, then of inner = 1, and so on. The last panel
// is filled up with zeros.
struct PanelProduct {
  const float* x;  // [rows, inner]
  int64_t rows;
  int64_t inner;
  const float* panels;
  int64_t columns;
  const float* bias;  // filled up like the panels; may be null
  float* out;         // [rows, columns]
};

// The greatest of a row's products, found while they are made.
struct BestOfRow {
  float largest;     // of all columns
  float sum;         // of exp(column - largest)
  float* values;     // the greatest `width` but for those left out, in falling order
  int32_t* columns;  // of equal values the smaller column first
  int32_t found;
};

// A softmax-weighted sum over positions that stand anywhere: row r, head h looks at position i at
// keys + offsets[i] (+ the head's own), and at values in the same way.
struct Lookup {
  const float* q;  // [d_k], scaled
  const float* keys;
  const float* values;
  const int64_t* key_offsets;
  const int64_t* value_offsets;
  int64_t positions;
  int64_t d_k;
  int64_t d_v;
  float* weights;  // room for `positions` and a vector more
  float* out;      // [d_v]
};

// One instruction set's. Every row's result is the same whatever rows stand beside it, to the bit.
struct CpuKernels {
  const char* name;
  int64_t panel;  // columns of a panel
  // Panels first .. last - 1 of the result.
  void (*multiply)(const PanelProduct& product, int64_t first, int64_t last);
  // Takes panels first .. last - 1 into `best`, one a row. `out` is scratch, kBlock panels a row.
  // Of the columns 0 .. 63 those whose bit is set are not listed; they count in the sum.
  void (*best)(const PanelProduct& product, int64_t first, int64_t last, int64_t width,
               uint64_t left_out, BestOfRow* best);
  void (*attend)(const Lookup& lookup);
  static constexpr int64_t kBlock = 8;
};

// Those this machine can run, the fastest first; none where it has neither AVX-512 nor AVX2.
const std::vector<const CpuKernels*>& cpu_kernels();

// Those of instruction_set() (vectorized.h); nullptr where it is plain.
const CpuKernels* chosen_kernels();

}  // namespace transformer
