#pragma once

#include "transformer/nn/kernels/vectorized.h"

namespace transformer {

// Which entries of a tensor a dropout keeps, from a counter: the bits of entry i depend on (key, i)
// alone, so that the backward pass makes them again and none are stored (Salmon et al. 2011 have
// the idea; the mixing is two rounds of multiply and shift in 32 bits).
class RandomMask {
 public:
  RandomMask(uint64_t key, double p)
      : first_(static_cast<uint32_t>(key)),
        second_(static_cast<uint32_t>(key >> 32)),
        threshold_(static_cast<uint32_t>(p * 4294967296.0)),
        scale_(static_cast<float>(1.0 / (1.0 - p))) {}

  // Entries index .. index + kLanes - 1: 0 where dropped, 1 / (1 - p) where kept.
  TRANSFORMER_INLINE void factors(int64_t index, Floats& out) const {
    constexpr uint32_t kStep = 0x9e3779b9;  // 2^32 divided by the golden ratio, odd
    constexpr Words kLaneSteps = {0,          kStep,      2 * kStep,  3 * kStep,
                                  4 * kStep,  5 * kStep,  6 * kStep,  7 * kStep,
                                  8 * kStep,  9 * kStep,  10 * kStep, 11 * kStep,
                                  12 * kStep, 13 * kStep, 14 * kStep, 15 * kStep};
    const auto high = static_cast<uint32_t>(index >> 32);
    Words x = kLaneSteps + (static_cast<uint32_t>(index) * kStep + first_);
    x ^= x >> 16;
    x *= 0x21f0aaad;
    x ^= second_ + high * 0x85ebca6b;
    x ^= x >> 15;
    x *= 0x735a2d97;
    x ^= x >> 15;
    out = x >= threshold_ ? Floats{} + scale_ : Floats{};
  }

 private:
  uint32_t first_;
  uint32_t second_;
  uint32_t threshold_;
  float scale_;
};

}  // namespace transformer
