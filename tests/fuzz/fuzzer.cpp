// The entry that libFuzzer calls; FUZZ_TARGET is one of targets.h.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>

#include "tests/fuzz/targets.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const transformer::fuzz::Target target{"", transformer::fuzz::FUZZ_TARGET};
  // Of the processor, not the clock: other programs may be at work. The sanitizers make a second
  // some five of it.
  constexpr double kMostSeconds = 5;
  const std::clock_t start = std::clock();
  accepts(target, {reinterpret_cast<const char*>(data), size});
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  if (seconds > kMostSeconds) {
    std::fprintf(stderr, "ERROR: %.1f s for %zu bytes\n", seconds, size);
    std::abort();
  }
  return 0;
}
