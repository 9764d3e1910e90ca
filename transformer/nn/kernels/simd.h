#pragma once

// Vectors of W floats for kernels that are compiled once for each instruction set. Include it only
// in the files that CMakeLists.txt compiles so: nothing here may be compiled for a machine that
// the program does not check for. Each set has a W of its own, so no two files share an instance.

#include <cstdint>
#include <cstring>

namespace transformer::simd {

typedef float Vector4 __attribute__((vector_size(16)));
typedef float Vector8 __attribute__((vector_size(32)));
typedef float Vector16 __attribute__((vector_size(64)));

// GCC 12 takes vector_size(W) of a template's parameter for no vector where it is checked first.
template <int W>
struct VectorsOf;
template <>
struct VectorsOf<8> {
  typedef Vector8 Floats;
  typedef int32_t Integers __attribute__((vector_size(32)));
};
template <>
struct VectorsOf<16> {
  typedef Vector16 Floats;
  typedef int32_t Integers __attribute__((vector_size(64)));
};

static inline float sum_of(const Vector8& v) {
  const Vector4 four =
      __builtin_shufflevector(v, v, 0, 1, 2, 3) + __builtin_shufflevector(v, v, 4, 5, 6, 7);
  const Vector4 two = four + __builtin_shufflevector(four, four, 2, 3, 0, 1);
  return two[0] + two[1];
}
[[maybe_unused]] static inline float sum_of(const Vector16& v) {
  const Vector8 eight = __builtin_shufflevector(v, v, 0, 1, 2, 3, 4, 5, 6, 7) +
                        __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15);
  return sum_of(eight);
}

template <int W>
struct Simd {
  using Vector = typename VectorsOf<W>::Floats;
  using Integers = typename VectorsOf<W>::Integers;

  static Vector load(const float* from) {
    Vector v;
    std::memcpy(&v, from, sizeof v);
    return v;
  }
  static void store(float* to, Vector v) { std::memcpy(to, &v, sizeof v); }
  static Vector all(float x) { return x - Vector{}; }  // not 0 + x, which is no copy for x = -0
  static Vector larger(Vector a, Vector b) { return a > b ? a : b; }

  static float sum(Vector v) { return sum_of(v); }

  static float largest(Vector v) {
    float lanes[W];
    store(lanes, v);
    float found = lanes[0];
    for (int i = 1; i < W; ++i) found = lanes[i] > found ? lanes[i] : found;
    return found;
  }

  // Within 2 units in the last place for x <= 0, the only arguments of a softmax; what would be
  // below 2^-126 becomes 2^-126. Not a number stays so.
  static Vector exp(Vector x) {
    x = x < -87.3365f ? all(-87.3365f) : x;
    constexpr float kRound = 12582912.0f;  // 1.5 · 2^23: adding it rounds to an integer
    const Vector shifted = x * 1.44269504f + kRound;
    const Vector n = shifted - kRound;
    Vector r = x - n * 0.693359375f;  // ln 2 in two parts
    r = r - n * -2.12194440e-4f;
    Vector p = all(1.9875691500e-4f);
    p = p * r + 1.3981999507e-3f;
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    p = p * r * r + r + 1.0f;
    Integers bits;
    std::memcpy(&bits, &shifted, sizeof bits);
    bits = (bits - 0x4B400000 + 127) << 23;  // 2^n
    Vector power;
    std::memcpy(&power, &bits, sizeof power);
    return p * power;
  }
};

}  // namespace transformer::simd
