#include "tools/commands/model_options.h"

#include "transformer/error.h"
#include "transformer/train/device.h"

namespace transformer {

void add_model_options(cxxopts::Options& options) {
  options.add_options()("checkpoint",
                        "a run's folder, a checkpoint's folder, or a .safetensors file",
                        cxxopts::value<std::string>())(
      "device", "auto, cpu, cuda or cuda:N", cxxopts::value<std::string>()->default_value("auto"))(
      "threads", "threads of the matrix products; 0: all cores",
      cxxopts::value<int64_t>()->default_value("0"));
}

LoadedModel load_model(const Arguments& arguments) {
  if (!arguments.has("checkpoint")) {
    throw UserError("expected --checkpoint, the folder of a run or a .safetensors file");
  }
  use_threads(arguments.get<int64_t>("threads"));
  return load_model(arguments.get<std::string>("checkpoint"), arguments.overrides,
                    device_named(arguments.get<std::string>("device")));
}

}  // namespace transformer
