#pragma once

// Which rows' BLEU differs from base's by more than the choice of sentences explains.

#include <map>
#include <string>

#include "experiments/comparison.h"

namespace transformer {

using PValues = std::map<std::string, double>;  // by a row's id

// The p-value of each row with translations kept: approximate randomisation against base with the
// same seed (transformer/decode/paired_tests.h); of several seeds the largest, so that a small one
// says that every pair differs. Empty where the sweep has no base. Not corrected for the number of
// rows.
PValues p_values_to_base(const Summary& summary, const DetailsOf& details);

}  // namespace transformer
