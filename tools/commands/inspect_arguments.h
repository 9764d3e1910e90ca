#pragma once

#include <string>
#include <vector>

#include "experiments/sweep.h"
#include "tools/commands/arguments.h"

namespace transformer {

// The experiments that CONFIG and the overrides name: the rows of a sweep, a row for each value of
// comma lists, or one experiment. V is stated wherever a vocabulary that is there tells it.
std::vector<SweepRow> rows_of(const Arguments& arguments);

// Of a topic that shows one: throws UserError where there are several.
Config one_config(const Arguments& arguments, const std::vector<SweepRow>& rows);

// The integers of a comma list, each at least `least` and at most `most`.
std::vector<int64_t> integers_of(const Arguments& arguments, const std::string& option,
                                 int64_t least, int64_t most);

void print_json(const Json& json);

}  // namespace transformer
