#include "transformer/nn/kernels/panel_matrix.h"

#include <ATen/Parallel.h>
#include <c10/core/InferenceMode.h>
#include <sys/mman.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <new>
#include <vector>

#include "transformer/nn/kernels/cpu_kernels.h"

namespace transformer {

namespace {

// Weights are read from one end to the other at every step: large pages save most look-ups of
// addresses.
float* allocate(int64_t count) {
  constexpr size_t kLargePage = size_t{1} << 21;
  const size_t bytes = static_cast<size_t>(count) * sizeof(float);
  const size_t alignment = bytes >= kLargePage / 2 ? kLargePage : 64;
  const size_t rounded = (bytes + alignment - 1) / alignment * alignment;
  void* memory = std::aligned_alloc(alignment, std::max(rounded, alignment));
  if (memory == nullptr) throw std::bad_alloc();
  if (alignment == kLargePage) madvise(memory, rounded, MADV_HUGEPAGE);  // a wish, no more
  return static_cast<float*>(memory);
}

}  // namespace

const CpuKernels* kernels_for(const torch::Tensor& tensor) {
  if (!c10::InferenceMode::is_enabled() || !tensor.device().is_cpu() ||
      tensor.scalar_type() != torch::kFloat) {
    return nullptr;
  }
  return chosen_kernels();
}

void PanelMatrix::Free::operator()(float* memory) const { std::free(memory); }

PanelMatrix::PanelMatrix(const CpuKernels& kernels, const torch::Tensor& weight,
                         const std::optional<torch::Tensor>& bias)
    : kernels_(&kernels), columns_(weight.size(0)), inner_(weight.size(1)) {
  const int64_t panel = kernels.panel;
  panels_.reset(allocate(panels() * panel * inner_));
  const auto from = weight.detach().contiguous();
  const float* numbers = from.const_data_ptr<float>();
  at::parallel_for(0, panels(), 1, [&](int64_t first, int64_t last) {
    for (int64_t p = first; p < last; ++p) {
      float* to = panels_.get() + p * panel * inner_;
      for (int64_t j = 0; j < panel; ++j) {
        const int64_t column = p * panel + j;
        const float* row = numbers + column * inner_;
        for (int64_t k = 0; k < inner_; ++k) to[k * panel + j] = column < columns_ ? row[k] : 0;
      }
    }
  });
  if (bias) {
    bias_ = torch::zeros({panels() * panel}, weight.options().requires_grad(false));
    bias_.narrow(0, 0, columns_).copy_(bias->detach());
  }
}

int64_t PanelMatrix::panels() const { return (columns_ + kernels_->panel - 1) / kernels_->panel; }

// Threads are worth their start from some ten microseconds of work each.
int64_t PanelMatrix::panels_of_a_thread(int64_t rows) const {
  constexpr int64_t kWorth = 1 << 19;
  return std::max<int64_t>(1, kWorth / std::max<int64_t>(1, rows * inner_ * kernels_->panel));
}

torch::Tensor PanelMatrix::multiply(const torch::Tensor& x) const {
  const auto input = x.contiguous();
  auto sizes = x.sizes().vec();
  TORCH_CHECK(!sizes.empty() && sizes.back() == inner_, "product by panels: expected ", inner_,
              " columns, got ", sizes);
  sizes.back() = columns_;
  auto out = at::empty(sizes, x.options());
  const PanelProduct product{input.const_data_ptr<float>(),
                             input.numel() / inner_,
                             inner_,
                             panels_.get(),
                             columns_,
                             bias_.defined() ? bias_.const_data_ptr<float>() : nullptr,
                             out.mutable_data_ptr<float>()};
  at::parallel_for(0, panels(), panels_of_a_thread(product.rows),
                   [&](int64_t first, int64_t last) { kernels_->multiply(product, first, last); });
  return out;
}

PanelMatrix::Best PanelMatrix::best(const torch::Tensor& x, int64_t width,
                                    uint64_t left_out) const {
  TORCH_CHECK(x.dim() == 2 && x.size(1) == inner_, "best by panels: expected ", inner_,
              " columns, got ", x.sizes());
  const auto input = x.contiguous();
  const int64_t rows = x.size(0);
  // Each thread has its own part of the columns and its own list of the best, joined at the end.
  const int64_t blocks = (panels() + CpuKernels::kBlock - 1) / CpuKernels::kBlock;
  const int64_t parts = std::min<int64_t>(at::get_num_threads(), blocks);
  constexpr float kNever = -std::numeric_limits<float>::infinity();
  std::vector<float> values(static_cast<size_t>(parts * rows * width), kNever);
  std::vector<int32_t> columns(values.size(), 0);
  std::vector<BestOfRow> found(static_cast<size_t>(parts * rows));
  for (size_t i = 0; i < found.size(); ++i) {
    const auto start = i * static_cast<size_t>(width);
    found[i] = {kNever, 0, values.data() + start, columns.data() + start, 0};
  }
  const int64_t scratch = rows * CpuKernels::kBlock * kernels_->panel;
  const auto memory = at::empty({parts, scratch}, x.options());
  at::parallel_for(0, parts, 1, [&](int64_t first, int64_t last) {
    for (int64_t part = first; part < last; ++part) {
      const PanelProduct product{input.const_data_ptr<float>(),
                                 rows,
                                 inner_,
                                 panels_.get(),
                                 columns_,
                                 bias_.defined() ? bias_.const_data_ptr<float>() : nullptr,
                                 memory.mutable_data_ptr<float>() + part * scratch};
      kernels_->best(product, std::min(panels(), blocks * part / parts * CpuKernels::kBlock),
                     std::min(panels(), blocks * (part + 1) / parts * CpuKernels::kBlock), width,
                     left_out, found.data() + part * rows);
    }
  });

  Best best{at::zeros({rows, width}, torch::kLong), at::full({rows, width}, kNever, x.options()),
            at::empty({rows}, torch::kDouble)};
  auto* best_columns = best.columns.mutable_data_ptr<int64_t>();
  auto* best_values = best.values.mutable_data_ptr<float>();
  auto* normalizers = best.normalizers.mutable_data_ptr<double>();
  std::vector<int32_t> next(static_cast<size_t>(parts));
  for (int64_t row = 0; row < rows; ++row) {
    const auto of = [&](int64_t part) -> const BestOfRow& {
      return found[static_cast<size_t>(part * rows + row)];
    };
    double largest = kNever, sum = 0;
    for (int64_t part = 0; part < parts; ++part) {
      largest = std::max(largest, static_cast<double>(of(part).largest));
    }
    for (int64_t part = 0; part < parts; ++part) {
      sum += of(part).sum * std::exp(of(part).largest - largest);
    }
    normalizers[row] = largest + std::log(sum);
    std::ranges::fill(next, 0);
    for (int64_t rank = 0; rank < width; ++rank) {
      int64_t chosen = -1;
      for (int64_t part = 0; part < parts; ++part) {  // of equal values the first part's
        const auto i = next[static_cast<size_t>(part)];
        if (i == of(part).found) continue;
        if (chosen < 0 ||
            of(part).values[i] > of(chosen).values[next[static_cast<size_t>(chosen)]]) {
          chosen = part;
        }
      }
      if (chosen < 0) break;
      const auto i = next[static_cast<size_t>(chosen)]++;
      best_values[row * width + rank] = of(chosen).values[i];
      best_columns[row * width + rank] = of(chosen).columns[i];
    }
  }
  return best;
}

const PanelMatrix* PanelWeight::of(const torch::Tensor& weight,
                                   const std::optional<torch::Tensor>& bias) {
  const auto* kernels = kernels_for(weight);
  if (kernels == nullptr) return nullptr;
  const uint32_t version = weight._version() + (bias ? bias->_version() : 0);
  if (made_ == nullptr || data_ != weight.const_data_ptr() || version_ != version) {
    made_ = std::make_unique<PanelMatrix>(*kernels, weight, bias);
    data_ = weight.const_data_ptr();
    version_ = version;
  }
  return made_.get();
}

}  // namespace transformer
