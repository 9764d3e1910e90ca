#include "transformer/nn/kernels/vectorized.h"

#include <cstdlib>
#include <string_view>

namespace transformer {

namespace {

InstructionSet detect() {
#if defined(__x86_64__) && defined(__GNUC__)
  const char* wish = std::getenv("TRANSFORMER_CPU");
  const std::string_view most = wish == nullptr ? "avx512" : wish;
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") &&
                      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
                      __builtin_cpu_supports("avx512vl");
  if (avx512 && most == "avx512") return InstructionSet::avx512;
  if (avx2 && most != "plain") return InstructionSet::avx2;
#endif
  return InstructionSet::plain;
}

}  // namespace

InstructionSet instruction_set() {
  static const InstructionSet set = detect();
  return set;
}

}  // namespace transformer
