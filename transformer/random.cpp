#include "transformer/random.h"

#include <string>

#include "transformer/fingerprint.h"

namespace transformer {

uint64_t stream_seed(int64_t seed, std::string_view purpose, int64_t index) {
  return checksum(std::to_string(seed) + "/" + std::string(purpose) + "/" + std::to_string(index));
}

uint64_t Random::operator()() {
  uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

uint64_t Random::below(uint64_t bound) {
  const uint64_t limit = max() - max() % bound;  // values from here on would favour small results
  uint64_t value = (*this)();
  while (value >= limit) value = (*this)();
  return value % bound;
}

double Random::uniform() { return static_cast<double>((*this)() >> 11) * 0x1.0p-53; }

}  // namespace transformer
