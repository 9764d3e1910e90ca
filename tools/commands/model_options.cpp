#include "tools/commands/model_options.h"

#include "transformer/error.h"
#include "transformer/train/device.h"

namespace transformer {

void add_device_options(cxxopts::Options& options) {
  options.add_options()("device", "auto, cpu, cuda or cuda:N",
                        cxxopts::value<std::string>()->default_value("auto"))(
      "threads", "threads of the matrix products; 0: all cores",
      cxxopts::value<std::string>()->default_value("0"));
}

torch::Device device_of(const Arguments& arguments) {
  use_threads(arguments.integer("threads", 0, kMostThreads));
  return device_named(arguments.get<std::string>("device"));
}

torch::Device device_of(const Arguments& arguments, int64_t local_rank) {
  const auto device = device_of(arguments);
  const bool is_named = arguments.get<std::string>("device").starts_with("cuda:");
  // Slurm may show each process its own GPU alone, as number 0.
  if (device.is_cpu() || is_named || gpus() == 1) return device;
  return device_named("cuda:" + std::to_string(local_rank));
}

void add_model_options(cxxopts::Options& options) {
  options.add_options()("checkpoint",
                        "a run's folder, a checkpoint's folder, or a .safetensors file",
                        cxxopts::value<std::string>());
  add_device_options(options);
}

LoadedModel load_model(const Arguments& arguments) {
  if (!arguments.has("checkpoint")) {
    throw UserError("expected --checkpoint, the folder of a run or a .safetensors file");
  }
  const auto device = device_of(arguments);
  return load_model(arguments.get<std::string>("checkpoint"), arguments.overrides, device);
}

}  // namespace transformer
