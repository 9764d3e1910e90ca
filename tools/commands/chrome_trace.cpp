#include "tools/commands/chrome_trace.h"

#include <torch/csrc/autograd/profiler_kineto.h>

#include "transformer/files.h"

namespace transformer {

ChromeTrace::ChromeTrace(std::string file, bool with_cuda) : file_(std::move(file)) {
  namespace profiler = torch::profiler::impl;
  write_file(file_, std::string("{}\n"));
  std::set<profiler::ActivityType> activities = {profiler::ActivityType::CPU};
  if (with_cuda) activities.insert(profiler::ActivityType::CUDA);
  const profiler::ProfilerConfig config(profiler::ProfilerState::KINETO);
  torch::autograd::profiler::prepareProfiler(config, activities);
  torch::autograd::profiler::enableProfiler(
      config, activities,
      {at::RecordScope::FUNCTION, at::RecordScope::USER_SCOPE, at::RecordScope::BACKWARD_FUNCTION});
}

ChromeTrace::~ChromeTrace() { torch::autograd::profiler::disableProfiler()->save(file_); }

}  // namespace transformer
