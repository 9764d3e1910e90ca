#pragma once

#include "tools/commands/arguments.h"
#include "transformer/decode/load.h"

namespace transformer {

// What every command on a trained model takes: --checkpoint, --device, --threads.
void add_model_options(cxxopts::Options& options);
LoadedModel load_model(const Arguments& arguments);

}  // namespace transformer
