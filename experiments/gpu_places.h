#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace transformer {

// The variable by which a process sees some of the machine's GPUs alone.
constexpr const char* kVisibleGpus = "CUDA_VISIBLE_DEVICES";

// Which of some GPUs a run is placed on: one with the fewest at work there, the first of those.
class GpuPlaces {
 public:
  // By the numbers that this process knows them under.
  explicit GpuPlaces(const std::vector<int64_t>& gpus);

  int64_t take();
  void give_back(int64_t gpu);

  // kVisibleGpus for a process that is to see this GPU alone: where this process itself sees some
  // alone, their names are counted through.
  std::string visible(int64_t gpu) const;

 private:
  std::vector<int64_t> order_;
  std::map<int64_t, int64_t> at_work_;
};

}  // namespace transformer
