#pragma once

#include <optional>
#include <string>
#include <vector>

#include "transformer/config.h"

namespace transformer {

// The paper's own constants for a row of its Table 3, by the id and group that configs/table3.json
// gives it: base, A-h1, ..., big. Empty for any other.
std::optional<Config> paper_row(const std::string& id, const std::string& group);

// The keys that these constants are about: what is said in the paper, and left by no choice of the
// data or the machine.
const std::vector<std::string>& constants_of_the_paper();

}  // namespace transformer
