#include "transformer/numpy_random.h"

#include <bit>

namespace transformer {

namespace {

// SeedSequence: entropy is hashed into a pool of four words, every word is mixed with every other,
// and the state is hashed out of the pool.
class SeedSequence {
 public:
  explicit SeedSequence(uint64_t entropy) {
    const std::array<uint32_t, 4> words = {static_cast<uint32_t>(entropy),
                                           static_cast<uint32_t>(entropy >> 32), 0, 0};
    for (size_t i = 0; i < pool_.size(); ++i) pool_[i] = hashed(words[i]);
    for (size_t from = 0; from < pool_.size(); ++from) {
      for (size_t to = 0; to < pool_.size(); ++to) {
        if (from != to) pool_[to] = mixed(pool_[to], hashed(pool_[from]));
      }
    }
  }

  std::array<uint64_t, 4> state() const {
    std::array<uint64_t, 4> words{};
    uint32_t constant = 0x8b51f9dd;
    for (size_t i = 0; i < 2 * words.size(); ++i) {
      uint32_t value = pool_[i % pool_.size()] ^ constant;
      constant *= 0x58f38ded;
      value *= constant;
      value ^= value >> 16;
      words[i / 2] |= uint64_t{value} << (i % 2 == 0 ? 0 : 32);
    }
    return words;
  }

 private:
  uint32_t hashed(uint32_t value) {
    value ^= constant_;
    constant_ *= 0x931e8875;
    value *= constant_;
    return value ^ (value >> 16);
  }

  static uint32_t mixed(uint32_t x, uint32_t y) {
    const uint32_t value = 0xca01f9dd * x - 0x4973f715 * y;
    return value ^ (value >> 16);
  }

  uint32_t constant_ = 0x43b0d7e5;
  std::array<uint32_t, 4> pool_{};
};

}  // namespace

NumpyRandom::NumpyRandom(uint64_t seed) {
  const auto words = SeedSequence(seed).state();
  const Wide start = Wide{words[0]} << 64 | words[1];
  increment_ = (Wide{words[2]} << 64 | words[3]) << 1 | 1;
  advance();
  state_ += start;
  advance();
}

void NumpyRandom::advance() {
  constexpr Wide kMultiplier = Wide{0x2360ed051fc65da4} << 64 | 0x4385df649fccf645;
  state_ = state_ * kMultiplier + increment_;
}

uint64_t NumpyRandom::next64() {
  advance();
  const auto folded = static_cast<uint64_t>(state_ >> 64) ^ static_cast<uint64_t>(state_);
  return std::rotr(folded, static_cast<int>(state_ >> 122));
}

uint32_t NumpyRandom::next32() {
  if (has_half_) {
    has_half_ = false;
    return half_;
  }
  const uint64_t both = next64();
  has_half_ = true;
  half_ = static_cast<uint32_t>(both >> 32);
  return static_cast<uint32_t>(both);
}

// Lemire 2019: the upper half of a product, drawn again where that would favour some.
uint32_t NumpyRandom::below(uint32_t bound) {
  if (bound == 1) return 0;
  uint64_t product = uint64_t{next32()} * bound;
  if (static_cast<uint32_t>(product) < bound) {
    const uint32_t threshold = (0 - bound) % bound;
    while (static_cast<uint32_t>(product) < threshold) product = uint64_t{next32()} * bound;
  }
  return static_cast<uint32_t>(product >> 32);
}

bool NumpyRandom::coin() {
  if (coins_left_ == 0) {
    coins_ = next32();
    coins_left_ = 32;
  }
  const bool head = (coins_ & 1) != 0;
  coins_ >>= 1;
  --coins_left_;
  return head;
}

}  // namespace transformer
