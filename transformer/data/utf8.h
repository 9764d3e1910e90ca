#pragma once

#include <string_view>

namespace transformer {

// Whether the bytes are UTF-8 as RFC 3629 has it: no overlong form, no surrogate, nothing above
// U+10FFFF.
bool is_utf8(std::string_view bytes);

}  // namespace transformer
