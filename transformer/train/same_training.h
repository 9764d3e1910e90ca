#pragma once

#include <optional>
#include <string>

#include "transformer/config.h"

namespace transformer {

// Why a run that began with one config cannot go on with another: the first key that would make its
// end differ from that of a run that had `now` from its first step, with both values. Empty where
// none does: decoding.* has no part in training, and more train_steps have none in the steps
// before, unless the schedule looks at them (cosine).
std::optional<std::string> why_not_go_on(const Config& there, const Config& now);

}  // namespace transformer
