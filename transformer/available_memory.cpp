#include "transformer/available_memory.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <sstream>
#include <string_view>

#include "transformer/byte_count.h"

namespace transformer {
namespace fs = std::filesystem;

namespace {

// Where a line says `key`, with or without a colon, the number after it.
std::optional<double> number_of(const fs::path& file, const std::string& key) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string first;
    double number = 0;
    if (words >> first >> number && (first == key || first == key + ":")) return number;
  }
  return std::nullopt;
}

// A file that is one number; none where it says "max".
std::optional<double> number_in(const fs::path& file) {
  std::ifstream in(file);
  double number = 0;
  return in >> number ? std::optional(number) : std::nullopt;
}

// What the two versions of control groups call the same things.
struct GroupFiles {
  const char* limit;
  const char* usage;
  const char* droppable;
  const char* droppable_too;
};
constexpr GroupFiles kVersion1 = {"memory.limit_in_bytes", "memory.usage_in_bytes",
                                  "total_inactive_file", "total_active_file"};
constexpr GroupFiles kVersion2 = {"memory.max", "memory.current", "inactive_file", "active_file"};

std::optional<double> left_in(const fs::path& group, const GroupFiles& files) {
  const auto limit = number_in(group / files.limit);
  const auto usage = number_in(group / files.usage);
  if (!limit || !usage) return std::nullopt;
  const fs::path stat = group / "memory.stat";
  return *limit - *usage + number_of(stat, files.droppable).value_or(0) +
         number_of(stat, files.droppable_too).value_or(0);
}

class Least {
 public:
  void take(std::optional<double> bytes, const std::string& limit) {
    if (bytes && *bytes < least_.bytes) least_ = {std::max(*bytes, 0.0), limit};
  }
  AvailableMemory least() const { return least_; }

 private:
  AvailableMemory least_{std::numeric_limits<double>::infinity(), ""};
};

// A process in /a/b is bound by the limits of /a/b, /a and /. In a container the upper ones, or all
// but the top, are not to be seen.
void take_groups(Least& least, const fs::path& mount, const std::string& path,
                 const GroupFiles& files) {
  fs::path group = path;
  while (true) {
    least.take(left_in(mount / group.relative_path(), files),
               "the control group " + group.string());
    if (group == group.parent_path()) return;
    group = group.parent_path();
  }
}

// Lines "4:memory:/path" (version 1) and "0::/path" (version 2).
void take_groups(Least& least, const fs::path& root) {
  const fs::path mount = root / "sys/fs/cgroup";
  std::ifstream groups(root / "proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const size_t first = line.find(':');
    const size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const std::string path = line.substr(second + 1);
    if (!path.starts_with("/")) continue;
    if (controllers == ",,") take_groups(least, mount, path, kVersion2);
    if (controllers.find(",memory,") != std::string::npos) {
      take_groups(least, mount / "memory", path, kVersion1);
    }
  }
}

std::optional<double> left_of_address_space(const fs::path& root) {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return std::nullopt;
  const auto pages = number_in(root / "proc/self/statm");
  if (!pages) return std::nullopt;
  return static_cast<double>(limit.rlim_cur) - *pages * static_cast<double>(sysconf(_SC_PAGESIZE));
}

}  // namespace

AvailableMemory available_memory(const fs::path& root) {
  constexpr double kKi = 1024;
  Least least;
  const auto there = number_of(root / "proc/meminfo", "MemAvailable");
  least.take(there ? std::optional(*there * kKi) : std::nullopt, "this machine");
  take_groups(least, root);
  least.take(left_of_address_space(root), "ulimit -v");
  return least.least();
}

std::optional<std::string> memory_problem(double bytes) {
  const char* wish = std::getenv("TRANSFORMER_MEMORY_CHECK");
  if (wish != nullptr && std::string_view(wish) == "0") return std::nullopt;
  constexpr double kAtLeast = 0.8;  // of an estimate
  const auto available = available_memory();
  if (kAtLeast * bytes <= available.bytes) return std::nullopt;
  return "need about " + byte_count(bytes) + " of memory; " + available.limit + " has " +
         byte_count(available.bytes) + " left";
}

}  // namespace transformer
