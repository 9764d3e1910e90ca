#include "transformer/train/device.h"

#include <torch/torch.h>

#include "transformer/error.h"
#include "transformer/fields.h"

namespace transformer {

int64_t gpus() {
  return static_cast<int64_t>(torch::cuda::is_available() ? torch::cuda::device_count() : 0);
}

torch::Device device_named(const std::string& name) {
  const int64_t gpus = transformer::gpus();
  if (name == "auto") return gpus > 0 ? torch::Device(torch::kCUDA, 0) : torch::Device(torch::kCPU);
  if (name == "cpu") return torch::kCPU;
  if (name == "cuda" && gpus > 0) return torch::Device(torch::kCUDA, 0);
  for (int64_t i = 0; i < gpus; ++i) {
    if (name == "cuda:" + std::to_string(i))
      return torch::Device(torch::kCUDA, static_cast<int8_t>(i));
  }
  throw UserError("--device: " + fields::shown(name) + " is not one of: auto, cpu" +
                  (gpus == 0 ? " (this machine has no CUDA device that LibTorch can use)"
                             : ", cuda, cuda:0.." + std::to_string(gpus - 1)));
}

void use_threads(int64_t threads) {
  if (threads < 0 || threads > kMostThreads) {
    throw UserError("--threads: " + std::to_string(threads) + " is not in 0.." +
                    std::to_string(kMostThreads));
  }
  if (threads > 0) torch::set_num_threads(static_cast<int>(threads));
}

}  // namespace transformer
