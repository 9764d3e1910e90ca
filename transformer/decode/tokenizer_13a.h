#pragma once

#include <string>
#include <string_view>

namespace transformer {

// The tokenisation of mteval-v13a, as sacreBLEU's `tok:13a` has it: what BLEU counts. The tokens
// come back separated by single spaces. `line` is UTF-8; only ASCII punctuation is split off, and
// white space is Unicode's.
std::string tokenize_13a(std::string_view line);

// Without the white space at its end: Unicode's, as Python's str.rstrip() has it.
std::string_view strip_right(std::string_view line);

}  // namespace transformer
