#pragma once

#include <torch/types.h>

#include <cstdint>
#include <string>

namespace transformer {

// "auto" (a GPU where there is one), "cpu", "cuda" or "cuda:N". Throws UserError where it is not
// there.
torch::Device device_named(const std::string& name);

int64_t gpus();  // that LibTorch can use

constexpr int64_t kMostThreads = 4096;

// Threads of the matrix products; 0: as many as cores this process may use.
void use_threads(int64_t threads);

}  // namespace transformer
