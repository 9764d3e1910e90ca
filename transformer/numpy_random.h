#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace transformer {

// The numbers of NumPy's default_rng(seed): PCG64 (O'Neill 2014: a 128-bit linear congruential
// generator, XSL-RR output), seeded by NumPy's SeedSequence. For what must draw as a Python program
// does; everything of our own draws from Random (random.h).
class NumpyRandom {
 public:
  explicit NumpyRandom(uint64_t seed);

  uint64_t next64();
  uint32_t next32();  // the lower half of one of 64 bits, then its upper half

  // One of integers(0, bound, size=...) or choice(bound, size=...), bound in 1..2^32 - 1.
  uint32_t below(uint32_t bound);

  // One of integers(2, size=..., dtype=bool). All that are drawn are of one such call.
  bool coin();

 private:
  __extension__ using Wide = unsigned __int128;

  void advance();

  Wide state_ = 0;
  Wide increment_ = 0;
  bool has_half_ = false;
  uint32_t half_ = 0;
  int coins_left_ = 0;
  uint32_t coins_ = 0;
};

}  // namespace transformer
