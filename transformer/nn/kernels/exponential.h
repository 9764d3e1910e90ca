#pragma once

#include "transformer/nn/kernels/vectorized.h"

namespace transformer {

// e^x in each lane, with a relative error below 1.2e-7 for x in [-87.3, 88.3]; beyond, what those
// ends give, so that e^-infinity is 1.2e-38 and not 0. A sum of it with a 1 does not notice. x = n
// ln 2 + r with |r| <= ln 2 / 2; e^r by a polynomial (Cephes, Moshier 1989).
TRANSFORMER_INLINE void exponential(Floats& x) {
  x = x < -87.3f ? Floats{} - 87.3f : x;
  x = x > 88.3f ? Floats{} + 88.3f : x;
  constexpr float kRound = 12582912.0f;  // 1.5 · 2^23: adding it leaves no bits behind the point
  const Floats n = (x * 1.44269504088896341f + kRound) - kRound;
  const Floats r = (x - n * 0.693145752f) - n * 1.42860677e-6f;  // ln 2 in two parts
  Floats p = r * 1.9875691500e-4f + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * r * r + r + 1.0f;
  const Ints exponent = (__builtin_convertvector(n, Ints) + 127) << 23;
  Floats power;
  std::memcpy(&power, &exponent, sizeof power);
  x = p * power;
}

}  // namespace transformer
