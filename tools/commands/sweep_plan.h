#pragma once

// The dry run of a sweep: what each row would cost.

#include <cstdint>
#include <optional>
#include <string>

#include "experiments/plan.h"

namespace transformer {

std::string counted(size_t count, const std::string& what);  // "1 row", "20 rows"

// The rows with V stated wherever it can be known from a vocabulary that is there; for figures, not
// for runs. Throws UserError where one is no vocabulary.
Sweep with_vocabulary_size(Sweep sweep);

// Of a run with as many threads as this process has: of its training steps where those are short
// (step_rate.h), else of float32 products of its size.
std::optional<double> measured_rate(const Config& config);

// What a plan is made with.
struct PlanBasis {
  Rate flops_per_second;             // of a run
  double program_bytes = 0;          // program_memory.h
  int64_t jobs = 1;                  // runs at a time
  std::optional<Results> results{};  // of runs that there are: their figures stand beside
};

// To standard output; what is not known and why, to standard error.
void print_plan(const Sweep& sweep, const PlanBasis& basis);
void print_plan_json(const Sweep& sweep, const PlanBasis& basis);

}  // namespace transformer
