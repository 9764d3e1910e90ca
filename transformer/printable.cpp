#include "transformer/printable.h"

#include <cstdint>
#include <cstdio>

#include "transformer/utf8.h"

namespace transformer {

namespace {

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
