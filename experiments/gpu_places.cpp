#include "experiments/gpu_places.h"

#include <algorithm>
#include <cstdlib>
#include <sstream>

namespace transformer {

GpuPlaces::GpuPlaces(const std::vector<int64_t>& gpus) : order_(gpus) {}

int64_t GpuPlaces::take() {
  const int64_t gpu = *std::ranges::min_element(
      order_, {}, [&](int64_t each) { return at_work_[each]; });  // the first of equals
  ++at_work_[gpu];
  return gpu;
}

void GpuPlaces::give_back(int64_t gpu) { --at_work_[gpu]; }

std::string GpuPlaces::visible(int64_t gpu) const {
  const char* before = std::getenv(kVisibleGpus);
  if (before == nullptr) return std::to_string(gpu);
  std::istringstream names(before);
  std::string name;
  for (int64_t i = 0; i <= gpu; ++i) std::getline(names, name, ',');
  return names ? name : std::to_string(gpu);
}

}  // namespace transformer
