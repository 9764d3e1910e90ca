#include "experiments/run_limits.h"

#include "tests/catch.h"
#include "tests/temporary_folder.h"
#include "transformer/error.h"
#include "transformer/folder_lock.h"

using namespace transformer;
using namespace std::chrono_literals;

TEST_CASE("run limits: times are read with their unit") {
  REQUIRE(read_duration("90s", "--time-limit") == 90s);
  REQUIRE(read_duration("15m", "--time-limit") == 900s);
  REQUIRE(read_duration("2h", "--time-limit") == 7200s);
  REQUIRE(read_duration("1d", "--time-limit") == 86400s);
  for (const std::string text :
       {"", "h", "0", "90", "0s", "-1s", "1.5h", "2 h", "1w", "9999999999999d"}) {
    INFO(text);
    REQUIRE_THROWS_AS(read_duration(text, "--time-limit"), UserError);
  }
}

TEST_CASE("run limits: time counts from the start, silence from the last sign of life") {
  const TemporaryFolder folder;
  const auto start = std::chrono::system_clock::now();
  const RunLimits none, time{.time = 60s}, silence{.silence = 60s};
  const auto at = [&](const RunLimits& limits, std::chrono::seconds later) {
    return overdue(limits, folder.path(), start, start + later);
  };
  REQUIRE(at(none, 1000000s) == Overdue::no);
  REQUIRE(at(time, 59s) == Overdue::no);
  REQUIRE(at(time, 61s) == Overdue::time);
  REQUIRE(at(silence, 59s) == Overdue::no);
  REQUIRE(at(silence, 61s) == Overdue::silence);  // it has not even taken its folder
  const FolderLock lock(folder.path());
  lock.touch();
  REQUIRE(overdue(silence, folder.path(), start - 1000s, start + 30s) == Overdue::no);
  REQUIRE(overdue(silence, folder.path(), start - 1000s, start + 100s) == Overdue::silence);
}
