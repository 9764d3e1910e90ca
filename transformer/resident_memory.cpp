#include "transformer/resident_memory.h"

#include <sys/resource.h>

#include <fstream>

#if defined(__GLIBC__)
#include <malloc.h>
#endif

namespace transformer {

// "VmRSS:     1234 kB" in /proc/self/status.
std::optional<int64_t> memory_status(const std::string& name) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(name + ":")) return std::stoll(line.substr(name.size() + 1)) * 1024;
  }
  return std::nullopt;
}

int64_t peak_resident_bytes() {
  if (const auto peak = memory_status("VmHWM")) return *peak;
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return int64_t{usage.ru_maxrss} * 1024;  // Linux counts it in KiB
}

void forget_peak() {
#if defined(__GLIBC__)
  malloc_trim(0);
#endif
  std::ofstream("/proc/self/clear_refs") << "5";  // proc(5); where it cannot be, all counts
}

}  // namespace transformer
