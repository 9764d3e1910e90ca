#include "transformer/available_memory.h"

#include <cmath>

#include "tests/catch.h"
#include "tests/temporary_folder.h"
#include "transformer/files.h"

using namespace transformer;
namespace fs = std::filesystem;

namespace {

// A system as it shows itself under proc and sys.
class System {
 public:
  System() {
    file("proc/meminfo", "MemTotal: 9000 kB\nMemFree: 10 kB\nMemAvailable:    4000 kB\n");
  }
  void file(const std::string& name, const std::string& text) const {
    const fs::path path = folder_ / name;
    fs::create_directories(path.parent_path());
    write_file(path, text);
  }
  void limit(const std::string& group, const std::string& most, const std::string& used,
             const std::string& stat) const {
    file("sys/fs/cgroup/" + group + "/memory.max", most + "\n");
    file("sys/fs/cgroup/" + group + "/memory.current", used + "\n");
    file("sys/fs/cgroup/" + group + "/memory.stat", stat);
  }
  AvailableMemory available() const { return available_memory(folder_.path()); }

 private:
  TemporaryFolder folder_;
};

}  // namespace

TEST_CASE("available memory: the machine's, where nothing else binds") {
  const System system;
  REQUIRE(system.available().bytes == 4000 * 1024);
  REQUIRE(system.available().limit == "this machine");
  system.file("proc/self/cgroup", "0::/a\n");
  system.limit("a", "max", "100", "");
  REQUIRE(system.available().limit == "this machine");
}

TEST_CASE("available memory: a group's and those above it; file pages count as free") {
  const System system;
  system.file("proc/self/cgroup", "0::/jobs/seven\n");
  system.limit("jobs/seven", "2000000", "1500000",
               "anon 1000000\ninactive_file 300000\nactive_file 50000\n");
  REQUIRE(system.available().bytes == 850000);
  REQUIRE(system.available().limit == "the control group /jobs/seven");
  system.limit("jobs", "5000000", "4900000", "");
  REQUIRE(system.available().bytes == 100000);
  REQUIRE(system.available().limit == "the control group /jobs");
  system.limit("jobs", "5000000", "6000000", "");  // lowered meanwhile
  REQUIRE(system.available().bytes == 0);
}

TEST_CASE("available memory: groups of version 1, seen from a container") {
  const System system;
  // The path is the host's; here only the top is to be seen.
  system.file("proc/self/cgroup", "4:cpu,memory:/docker/abc\n0::/\n");
  system.file("sys/fs/cgroup/memory/memory.limit_in_bytes", "1000000\n");
  system.file("sys/fs/cgroup/memory/memory.usage_in_bytes", "700000\n");
  system.file("sys/fs/cgroup/memory/memory.stat",
              "total_inactive_file 20000\ntotal_active_file 3000\n");
  REQUIRE(system.available().bytes == 323000);
  REQUIRE(system.available().limit == "the control group /");
}

TEST_CASE("available memory: without bound where the system says nothing") {
  const TemporaryFolder nothing;
  REQUIRE(std::isinf(available_memory(nothing.path()).bytes));
}
