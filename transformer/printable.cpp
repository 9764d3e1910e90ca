#include "transformer/printable.h"

#include <cstdint>
#include <cstdio>

namespace transformer {

namespace {

struct Character {
  uint32_t point = 0;
  size_t bytes = 0;  // 0: not UTF-8
};

Character character_at(const std::string& text, size_t at) {
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

bool is_hidden(uint32_t point) {
  const auto in = [point](uint32_t first, uint32_t last) {
    return first <= point && point <= last;
  };
  return point < 0x20 || in(0x7f, 0x9f) || in(0x200b, 0x200f) || in(0x2028, 0x202e) ||
         in(0x2060, 0x2069) || point == 0xfeff;
}

std::string escaped(const char* pattern, unsigned value) {
  char text[16];
  std::snprintf(text, sizeof text, pattern, value);
  return text;
}

}  // namespace

std::string printable(const std::string& text, size_t most) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const auto [point, bytes] = character_at(text, at);
    std::string shown;
    if (bytes == 0) {
      shown = escaped("\\x%02x", static_cast<unsigned char>(text[at]));
    } else if (point == '\n') {
      shown = "\\n";
    } else if (is_hidden(point)) {
      shown = escaped("\\u%04x", point);
    } else {
      shown = text.substr(at, bytes);
    }
    if (out.size() + shown.size() > most) return out + "...";
    out += shown;
    at += bytes == 0 ? 1 : bytes;
  }
  return out;
}

}  // namespace transformer
