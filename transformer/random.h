#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

namespace transformer {

// Every purpose has a random stream of its own ("initialisation", "dropout", "order", ...), so that
// one more use of one stream changes nothing in another. `index` counts within a purpose: a step,
// an epoch. The result depends on its arguments alone, on every machine.
uint64_t stream_seed(int64_t seed, std::string_view purpose, int64_t index = 0);

// A generator whose numbers are the same with every standard library (SplitMix64; Steele, Lea and
// Flood 2014). Also works with std::shuffle's contract, though shuffle below should be used: the
// standard's own is free to differ between libraries.
class Random {
 public:
  using result_type = uint64_t;
  explicit Random(uint64_t seed) : state_(seed) {}
  static constexpr result_type min() { return 0; }
  static constexpr result_type max() { return ~uint64_t{0}; }
  uint64_t operator()();
  uint64_t below(uint64_t bound);  // uniform in [0, bound), without bias
  double uniform();                // uniform in [0, 1), 53 bits

 private:
  uint64_t state_;
};

// Fisher-Yates, from the last element down.
template <class Container>
void shuffle(Container& items, Random& random) {
  using std::swap;
  for (size_t i = items.size(); i > 1; --i) swap(items[i - 1], items[random.below(i)]);
}

}  // namespace transformer
