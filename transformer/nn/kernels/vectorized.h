#pragma once

// Portable vectors for the CPU kernels: GCC's and Clang's vector types, compiled for each
// instruction set and chosen when the program runs.

#include <cstdint>
#include <cstring>

namespace transformer {

#define TRANSFORMER_INLINE inline __attribute__((always_inline))

constexpr int64_t kLanes = 16;
constexpr int64_t kRowGrain = 16;  // so many rows are worth a thread
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
  alignas(Floats) float lanes[kLanes] = {};
  int64_t i = 0;
  if (count >= 8) {
    std::memcpy(lanes, from, 8 * sizeof(float));
    i = 8;
  }
  if (count >= i + 4) {
    std::memcpy(lanes + i, from + i, 4 * sizeof(float));
    i += 4;
  }
  for (; i < count; ++i) lanes[i] = from[i];
  load(vector, lanes);
}
TRANSFORMER_INLINE void store_some(float* to, const Floats& vector, int64_t count) {
  if (count >= kLanes) return store(to, vector);
  alignas(Floats) float lanes[kLanes];
  store(lanes, vector);
  int64_t i = 0;
  if (count >= 8) {
    std::memcpy(to, lanes, 8 * sizeof(float));
    i = 8;
  }
  if (count >= i + 4) {
    std::memcpy(to + i, lanes + i, 4 * sizeof(float));
    i += 4;
  }
  for (; i < count; ++i) to[i] = lanes[i];
}
// Lanes from `count` on become 0.
TRANSFORMER_INLINE void keep_some(Floats& vector, int64_t count) {
  constexpr Ints kLane = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  vector = kLane < static_cast<int32_t>(count) ? vector : Floats{};
}

// Lane i of the result is lane i ^ step.
template <int step>
TRANSFORMER_INLINE void exchange(Floats& to, const Floats& x) {
  to = __builtin_shufflevector(x, x, 0 ^ step, 1 ^ step, 2 ^ step, 3 ^ step, 4 ^ step, 5 ^ step,
                               6 ^ step, 7 ^ step, 8 ^ step, 9 ^ step, 10 ^ step, 11 ^ step,
                               12 ^ step, 13 ^ step, 14 ^ step, 15 ^ step);
}
TRANSFORMER_INLINE float sum(const Floats& lanes) {
  Floats x = lanes, y;
  exchange<8>(y, x), x += y;
  exchange<4>(y, x), x += y;
  exchange<2>(y, x), x += y;
  exchange<1>(y, x), x += y;
  return x[0];
}
TRANSFORMER_INLINE float largest(const Floats& lanes) {
  Floats x = lanes, y;
  exchange<8>(y, x), x = y > x ? y : x;
  exchange<4>(y, x), x = y > x ? y : x;
  exchange<2>(y, x), x = y > x ? y : x;
  exchange<1>(y, x), x = y > x ? y : x;
  return x[0];
}

// kLanes rows of a square: swaps what is off the diagonal in squares of `step`, ...
template <int step>
TRANSFORMER_INLINE void swap_squares(Floats (&rows)[kLanes]) {
  for (int i = 0; i < kLanes; ++i) {
    if (i & step) continue;
    const Floats upper = rows[i];
    const Floats lower = rows[i + step];
#define LANE(l) ((l)&step ? kLanes + (l)-step : (l))
    rows[i] = __builtin_shufflevector(upper, lower, LANE(0), LANE(1), LANE(2), LANE(3), LANE(4),
                                      LANE(5), LANE(6), LANE(7), LANE(8), LANE(9), LANE(10),
                                      LANE(11), LANE(12), LANE(13), LANE(14), LANE(15));
#undef LANE
#define LANE(l) ((l)&step ? kLanes + (l) : (l) + step)
    rows[i + step] = __builtin_shufflevector(
        upper, lower, LANE(0), LANE(1), LANE(2), LANE(3), LANE(4), LANE(5), LANE(6), LANE(7),
        LANE(8), LANE(9), LANE(10), LANE(11), LANE(12), LANE(13), LANE(14), LANE(15));
#undef LANE
  }
}
// ... and with that at every size it transposes.
TRANSFORMER_INLINE void transpose_square(Floats (&rows)[kLanes]) {
  swap_squares<8>(rows);
  swap_squares<4>(rows);
  swap_squares<2>(rows);
  swap_squares<1>(rows);
}

}  // namespace transformer
