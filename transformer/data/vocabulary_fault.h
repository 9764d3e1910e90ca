#pragma once

#include <string>
#include <string_view>

namespace transformer {

// Said of a file that is no SentencePiece model at all.
constexpr auto kNoModel = "this is not one";

// What is wrong with a SentencePiece model, in words; empty where nothing is. SentencePiece looks
// at neither of two: where the rules lead by which text is normalised, and how many pieces of the
// user's own begin with one another. Followed blindly, they lead out of its memory, and a
// vocabulary may come from a stranger. `model`: the bytes of its file.
std::string fault_of_vocabulary(std::string_view model);

}  // namespace transformer
