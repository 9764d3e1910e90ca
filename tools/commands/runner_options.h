#pragma once

#include "experiments/runner.h"
#include "tools/commands/arguments.h"

namespace transformer {

// What every command that does runs of a sweep says of them.
void add_run_limits(cxxopts::Options& options);
void read_run_limits(const Arguments& arguments, RunnerOptions& options);

// What is wrong with a model.safetensors; "" where nothing is.
std::string damage_of_model(const std::filesystem::path& model);

}  // namespace transformer
