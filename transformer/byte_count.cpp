#include "transformer/byte_count.h"

#include <cstdio>

namespace transformer {

std::string byte_count(double bytes) {
  constexpr double kMi = 1 << 20;
  const bool is_small = bytes < 1024 * kMi;
  char text[64];
  std::snprintf(text, sizeof text, is_small ? "%.0f MiB" : "%.1f GiB",
                is_small ? bytes / kMi : bytes / (1024 * kMi));
  return text;
}

}  // namespace transformer
