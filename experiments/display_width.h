#pragma once

#include <cstddef>
#include <string_view>

namespace transformer {

// Columns of a terminal that the text takes: two for a wide character (CJK, emoji), none for one
// that combines with the character before. A byte that is not UTF-8 takes one.
size_t display_width(std::string_view text);

}  // namespace transformer
