#pragma once

#include "tools/commands/arguments.h"
#include "transformer/decode/load.h"

namespace transformer {

// --device and --threads, of every command that computes. device_of also sets the threads.
void add_device_options(cxxopts::Options& options);
torch::Device device_of(const Arguments& arguments);
// Of one of several processes on this machine: each its own GPU, unless one is named.
torch::Device device_of(const Arguments& arguments, int64_t local_rank);

// What every command on a trained model takes: --checkpoint, --device, --threads.
void add_model_options(cxxopts::Options& options);
LoadedModel load_model(const Arguments& arguments);

}  // namespace transformer
