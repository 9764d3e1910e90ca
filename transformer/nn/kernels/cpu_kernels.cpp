#include "transformer/nn/kernels/cpu_kernels.h"

#include "transformer/nn/kernels/vectorized.h"

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

const CpuKernels* chosen_kernels() {
#ifdef TRANSFORMER_X86_KERNELS
  switch (instruction_set()) {
    case InstructionSet::avx512:
      return &kAvx512Kernels;
    case InstructionSet::avx2:
      return &kAvx2Kernels;
    case InstructionSet::plain:
      return nullptr;
  }
#endif
  return nullptr;
}

}  // namespace transformer
