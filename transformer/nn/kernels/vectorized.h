#pragma once

// Portable vectors for the CPU kernels: GCC's and Clang's vector types, compiled for each
// instruction set and chosen when the program runs.

#include <cstdint>
#include <cstring>

namespace transformer {

#define TRANSFORMER_INLINE inline __attribute__((always_inline))

constexpr int64_t kLanes = 16;
using Floats = float __attribute__((vector_size(kLanes * sizeof(float))));
using Words = uint32_t __attribute__((vector_size(kLanes * sizeof(uint32_t))));
using Ints = int32_t __attribute__((vector_size(kLanes * sizeof(int32_t))));

enum class InstructionSet { plain, avx2, avx512 };
// The widest that this processor has and TRANSFORMER_CPU (plain, avx2, avx512) allows. Read once.
InstructionSet instruction_set();

#if defined(__x86_64__) && defined(__GNUC__)
template <class Kernel>
__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,prefer-vector-width=512"))) void
run_avx512(const Kernel& kernel) {
  kernel();
}
template <class Kernel>
__attribute__((target("avx2,fma"))) void run_avx2(const Kernel& kernel) {
  kernel();
}
#endif

// Runs `kernel`, a lambda marked always_inline that calls only what is marked so too, in a copy
// compiled for this processor.
template <class Kernel>
void vectorized(const Kernel& kernel) {
#if defined(__x86_64__) && defined(__GNUC__)
  switch (instruction_set()) {
    case InstructionSet::avx512:
      return run_avx512(kernel);
    case InstructionSet::avx2:
      return run_avx2(kernel);
    case InstructionSet::plain:
      break;
  }
#endif
  kernel();
}

template <class Vector>
TRANSFORMER_INLINE void load(Vector& vector, const void* from) {
  std::memcpy(&vector, from, sizeof vector);
}
template <class Vector>
TRANSFORMER_INLINE void store(void* to, const Vector& vector) {
  std::memcpy(to, &vector, sizeof vector);
}
// The first `count` lanes, kLanes at most; the rest is 0.
TRANSFORMER_INLINE void load_some(Floats& vector, const float* from, int64_t count) {
  if (count >= kLanes) return load(vector, from);
  vector = Floats{};
  for (int64_t i = 0; i < count; ++i) vector[i] = from[i];
}
TRANSFORMER_INLINE void store_some(float* to, const Floats& vector, int64_t count) {
  if (count >= kLanes) return store(to, vector);
  for (int64_t i = 0; i < count; ++i) to[i] = vector[i];
}

TRANSFORMER_INLINE float sum(const Floats& x) {
  float total = 0;
  for (int i = 0; i < kLanes; ++i) total += x[i];
  return total;
}
TRANSFORMER_INLINE float largest(const Floats& x) {
  float most = x[0];
  for (int i = 1; i < kLanes; ++i) most = x[i] > most ? x[i] : most;
  return most;
}

}  // namespace transformer
