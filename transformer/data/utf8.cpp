#include "transformer/data/utf8.h"

#include <cstddef>
#include <cstdint>

namespace transformer {

bool is_utf8(std::string_view bytes) {
  for (size_t i = 0; i < bytes.size();) {
    const auto lead = static_cast<unsigned char>(bytes[i++]);
    if (lead < 0x80) continue;
    const int more = lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : 1;
    if (lead < 0xc2 || lead > 0xf4 || bytes.size() - i < static_cast<size_t>(more)) return false;
    uint32_t point = lead & (0x3f >> more);
    for (int k = 0; k < more; ++k) {
      const auto next = static_cast<unsigned char>(bytes[i++]);
      if ((next & 0xc0) != 0x80) return false;
      point = point << 6 | (next & 0x3f);
    }
    constexpr uint32_t kLeast[] = {0, 0x80, 0x800, 0x10000};
    if (point < kLeast[more] || point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff))
      return false;
  }
  return true;
}

}  // namespace transformer
