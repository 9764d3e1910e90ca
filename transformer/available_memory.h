#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace transformer {

// How much more this process may take, and who says so.
struct AvailableMemory {
  double bytes = 0;
  std::string limit;  // "this machine", "the control group PATH", "ulimit -v"
};

// The least of what the machine has available (/proc/meminfo), what the control groups above this
// process leave (versions 1 and 2; file pages that can be dropped count as free), and what its
// address space may still grow (RLIMIT_AS). Without bound where the system says none of them.
// `root` is where proc and sys lie.
AvailableMemory available_memory(const std::filesystem::path& root = "/");

// "need about 3.1 GiB of memory; this machine has 2.0 GiB left" where an estimate of what comes on
// top of what this process holds is clearly more than there is: more even where it is a fifth too
// high. Such a process would be killed without a word, for the system hands out more than it has.
// Nothing where it fits, or TRANSFORMER_MEMORY_CHECK=0.
std::optional<std::string> memory_problem(double bytes);

// What to say at the end of a refusal.
inline constexpr const char* kMemoryCheckOff =
    "TRANSFORMER_MEMORY_CHECK=0 in the environment tries it all the same";

}  // namespace transformer
