#include "transformer/nn/kernels/cpu_kernels.h"

namespace transformer {

extern const CpuKernels kAvx512Kernels;
extern const CpuKernels kAvx2Kernels;

const std::vector<const CpuKernels*>& cpu_kernels() {
  static const std::vector<const CpuKernels*> found = [] {
    std::vector<const CpuKernels*> kernels;
#ifdef TRANSFORMER_X86_KERNELS
    if (__builtin_cpu_supports("avx512f")) kernels.push_back(&kAvx512Kernels);
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
      kernels.push_back(&kAvx2Kernels);
    }
#endif
    return kernels;
  }();
  return found;
}

}  // namespace transformer
