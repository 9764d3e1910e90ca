#include "transformer/utf8.h"

namespace transformer {

Character character_at(std::string_view text, size_t at) {
  const auto lead = static_cast<unsigned char>(text[at]);
  if (lead < 0x80) return {lead, 1};
  const size_t bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() - at < bytes) return {};
  uint32_t point = lead & (0x7fu >> bytes);
  for (size_t i = 1; i < bytes; ++i) {
    const auto next = static_cast<unsigned char>(text[at + i]);
    if ((next & 0xc0) != 0x80) return {};
    point = point << 6 | (next & 0x3fu);
  }
  constexpr uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool is_surrogate = point >= 0xd800 && point <= 0xdfff;
  if (point < kLeast[bytes] || point > 0x10ffff || is_surrogate) return {};
  return {point, bytes};
}

bool is_utf8(std::string_view bytes) {
  for (size_t at = 0; at < bytes.size();) {
    const size_t next = character_at(bytes, at).bytes;
    if (next == 0) return false;
    at += next;
  }
  return true;
}

}  // namespace transformer
