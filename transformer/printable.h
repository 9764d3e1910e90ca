#pragma once

#include <cstddef>
#include <string>

namespace transformer {

// The text as it may stand in a message, on one line: control characters, and those that hide or
// turn round what stands beside them, as \u001b; bytes that are not UTF-8 as \xff. More than `most`
// bytes are cut at a whole character, with "..." after it.
std::string printable(const std::string& text, size_t most = 80);

}  // namespace transformer
