#ifdef __AVX512F__  // as CMakeLists.txt compiles this file on x86

#include "transformer/nn/kernels/cpu_kernels_impl.h"

namespace transformer {

extern const CpuKernels kAvx512Kernels;
const CpuKernels kAvx512Kernels = simd::kernels<16, 4>("AVX-512");

}  // namespace transformer

#endif
