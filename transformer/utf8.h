#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace transformer {

struct Character {
  uint32_t point = 0;
  size_t bytes = 0;  // 0: not UTF-8
};

// The character that begins at a byte of the text. UTF-8 is as RFC 3629 has it: no overlong form,
// no surrogate, nothing above U+10FFFF.
Character character_at(std::string_view text, size_t at);

bool is_utf8(std::string_view bytes);

}  // namespace transformer
