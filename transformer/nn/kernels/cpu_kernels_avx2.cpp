#ifdef __AVX2__  // as CMakeLists.txt compiles this file on x86

#include "transformer/nn/kernels/cpu_kernels_impl.h"

namespace transformer {

extern const CpuKernels kAvx2Kernels;
const CpuKernels kAvx2Kernels = simd::kernels<8, 2>("AVX2");

}  // namespace transformer

#endif
