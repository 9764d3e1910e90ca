#include "tools/commands/amounts.h"

#include <cmath>
#include <cstdio>

namespace transformer {

namespace {

template <class... Values>
std::string format(const char* pattern, Values... values) {
  char text[64];
  std::snprintf(text, sizeof text, pattern, values...);
  return text;
}

}  // namespace

std::string with_commas(int64_t count) {
  std::string text = std::to_string(count);
  const size_t first = count < 0 ? 2 : 1;
  for (size_t i = text.size(); i > first + 2; i -= 3) text.insert(i - 3, ",");
  return text;
}

std::string duration(double seconds) {
  const auto whole = static_cast<long long>(std::llround(seconds));
  if (whole >= 48 * 3600) return format("%.1f days", seconds / 86400);
  if (whole >= 3600) return format("%lld h %02lld min", whole / 3600, whole % 3600 / 60);
  if (whole >= 60) return format("%lld min %02lld s", whole / 60, whole % 60);
  return format("%lld s", whole);
}

std::string byte_count(double bytes) {
  constexpr double kMi = 1 << 20;
  return bytes < 1024 * kMi ? format("%.0f MiB", bytes / kMi)
                            : format("%.1f GiB", bytes / (1024 * kMi));
}

std::string in_powers_of_ten(double quantity) { return format("%.2e", quantity); }

}  // namespace transformer
