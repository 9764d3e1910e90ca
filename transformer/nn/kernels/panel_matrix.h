#pragma once

#include <torch/types.h>

#include <cstdint>
#include <memory>
#include <optional>

namespace transformer {

struct CpuKernels;

// Where the kernels for the CPU stand in for PyTorch's operations: float32 tensors on a CPU that
// has one of their instruction sets, when no gradients are recorded.
const CpuKernels* kernels_for(const torch::Tensor& tensor);

// A weight laid out once for many products, as CpuKernels wants it. A row's products are the same,
// to the bit, whatever rows stand beside it and however many threads there are.
class PanelMatrix {
 public:
  // weight: [columns, inner], bias: [columns].
  PanelMatrix(const CpuKernels& kernels, const torch::Tensor& weight,
              const std::optional<torch::Tensor>& bias = std::nullopt);

  // x: [..., inner]. Returns x · weightᵀ + bias, [..., columns].
  torch::Tensor multiply(const torch::Tensor& x) const;

  struct Best {
    torch::Tensor columns;      // [rows, width] int64, the greatest product first
    torch::Tensor values;       // [rows, width]
    torch::Tensor normalizers;  // [rows] double: the logarithm of the sum of exp(product)
  };
  // The `width` greatest products of each row of x, [rows, inner], without keeping the others. The
  // columns of 0 .. 63 whose bit is set in `left_out` are not listed, but are in the sum. Where
  // fewer columns are left, -inf stands in the values.
  Best best(const torch::Tensor& x, int64_t width, uint64_t left_out) const;

 private:
  struct Free {
    void operator()(float* memory) const;
  };
  int64_t panels() const;
  int64_t panels_of_a_thread(int64_t rows) const;

  const CpuKernels* kernels_;
  int64_t columns_;
  int64_t inner_;
  std::unique_ptr<float[], Free> panels_;
  torch::Tensor bias_;  // filled up; undefined without one
};

// A weight in panels, made at the first use and again when the weight has changed.
class PanelWeight {
 public:
  // Nothing where the kernels do not apply. Only in inference mode: training has no use for it.
  const PanelMatrix* of(const torch::Tensor& weight,
                        const std::optional<torch::Tensor>& bias = std::nullopt);
  void drop() { made_.reset(); }

 private:
  std::unique_ptr<PanelMatrix> made_;
  const void* data_ = nullptr;
  uint32_t version_ = 0;
};

}  // namespace transformer
