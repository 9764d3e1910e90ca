#pragma once

#include <string>
#include <string_view>

namespace transformer {

// What is wrong with the rules by which a SentencePiece model normalises text, in words; empty
// where nothing is. `charsmap`: its precompiled_charsmap, which is the length of a trie in bytes,
// the trie of all that is replaced, and what it is replaced with, a NUL after each; or empty.
std::string fault_of_rules(std::string_view charsmap);

}  // namespace transformer
