#include "experiments/machine.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <fstream>
#include <iterator>

#include "experiments/cores.h"

namespace transformer {

namespace {

std::string cpu_name() {
  std::ifstream cpuinfo("/proc/cpuinfo");
  for (std::string line; std::getline(cpuinfo, line);) {
    if (line.rfind("model name", 0) != 0) continue;
    const size_t colon = line.find(": ");
    return colon == std::string::npos ? "" : line.substr(colon + 2);
  }
  return "unknown";
}

std::string vector_width() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return "avx512";
  if (__builtin_cpu_supports("avx2")) return "avx2";
#endif
  return "other";
}

Machine read_machine() {
  utsname system{};
  uname(&system);
  return {.cpu = cpu_name(),
          .cores = std::ssize(usable_cores()),
          .memory_bytes = int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE),
          .vector_width = vector_width(),
          .system = std::string(system.sysname) + " " + system.release};
}

}  // namespace

// As it was when it was first asked for: a run that keeps to some of the cores still tells them
// all.
Machine this_machine() {
  static const Machine machine = read_machine();
  return machine;
}

}  // namespace transformer
