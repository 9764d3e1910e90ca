#pragma once

// The dry run of a sweep: what each row would cost.

#include <optional>
#include <string>

#include "experiments/plan.h"

namespace transformer {

std::string counted(size_t count, const std::string& what);  // "1 row", "20 rows"

// The rows with V stated wherever it can be known from a vocabulary that is there; for figures, not
// for runs. Throws UserError where one is no vocabulary.
Sweep with_vocabulary_size(Sweep sweep);

// Of all this machine's cores at float32 products of the row's own size.
std::optional<double> measured_rate(const Config& config);

// To standard output; what is not known and why, to standard error.
void print_plan(const Sweep& sweep, const Rate& rate);
void print_plan_json(const Sweep& sweep, const Rate& rate);

}  // namespace transformer
