#include "transformer/fingerprint.h"

#include <xxhash.h>

#include <cstdio>

namespace transformer {

uint64_t checksum(std::string_view bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

std::string hexadecimal(uint64_t value) {
  char digits[17];
  std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(value));
  return digits;
}

std::string fingerprint(std::string_view bytes) { return hexadecimal(checksum(bytes)); }

}  // namespace transformer
