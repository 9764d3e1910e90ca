#include "experiments/display_width.h"

#include <algorithm>
#include <cstdint>
#include <iterator>

namespace transformer {

namespace {

struct Range {
  uint32_t first, last;
};

// The blocks one meets, not the whole of Unicode's tables.
constexpr Range kCombining[] = {{0x0300, 0x036f}, {0x0483, 0x0489}, {0x0591, 0x05bd},
                                {0x064b, 0x065f}, {0x200b, 0x200f}, {0x2060, 0x2064},
                                {0x20d0, 0x20f0}, {0xfe00, 0xfe0f}, {0xfeff, 0xfeff}};
constexpr Range kWide[] = {{0x1100, 0x115f},   {0x2e80, 0x303e},   {0x3041, 0xa4cf},
                           {0xac00, 0xd7a3},   {0xf900, 0xfaff},   {0xfe30, 0xfe6f},
                           {0xff00, 0xff60},   {0xffe0, 0xffe6},   {0x1f300, 0x1f64f},
                           {0x1f680, 0x1f6ff}, {0x1f900, 0x1f9ff}, {0x20000, 0x3fffd}};

template <size_t n>
bool in(const Range (&ranges)[n], uint32_t point) {
  return std::any_of(std::begin(ranges), std::end(ranges), [&](const Range& range) {
    return range.first <= point && point <= range.last;
  });
}

}  // namespace

size_t display_width(std::string_view text) {
  size_t width = 0;
  for (size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i++]);
    const size_t more = lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : lead >= 0xc2 ? 1 : 0;
    uint32_t point = more == 0 ? lead : lead & (0x3fu >> more);
    for (size_t k = 0; k < more && i < text.size() && (text[i] & 0xc0) == 0x80; ++k) {
      point = point << 6 | (static_cast<unsigned char>(text[i++]) & 0x3f);
    }
    width += in(kCombining, point) ? 0 : in(kWide, point) ? 2 : 1;
  }
  return width;
}

}  // namespace transformer
