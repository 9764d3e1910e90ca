#include "experiments/cores.h"

#include <sys/wait.h>
#include <unistd.h>

#include "experiments/machine.h"
#include "tests/catch.h"
#include "transformer/error.h"

using namespace transformer;
using Shares = std::vector<std::vector<int64_t>>;

TEST_CASE("cores: they are shared where the runs take all of them, and else left to the system") {
  const std::vector<int64_t> cores = {0, 1, 4, 5, 6, 7};
  REQUIRE(shares_of(cores, 2, 3) == Shares{{0, 1, 4}, {5, 6, 7}});
  REQUIRE(shares_of(cores, 6, 1) == Shares{{0}, {1}, {4}, {5}, {6}, {7}});
  REQUIRE(shares_of(cores, 2, 2).empty());  // two are free: for whom, we cannot know
  REQUIRE(shares_of(cores, 4, 2).empty());  // more than there are
  REQUIRE(shares_of(cores, 1, 6).empty());  // all of them anyway
}

TEST_CASE("cores: written and read") {
  REQUIRE(listed_cores({0, 3, 12}) == "0,3,12");
  REQUIRE(read_numbers("0,3,12", "--cores", "cores") == std::vector<int64_t>{0, 3, 12});
  REQUIRE_THROWS_WITH(read_numbers("0-3", "--cores", "cores"),
                      "--cores: expected numbers of cores such as 0,1; got 0-3");
  REQUIRE_THROWS_AS(read_numbers("0,,1", "--cores", "cores"), UserError);
  REQUIRE_THROWS_AS(use_cores({100000}), UserError);
}

TEST_CASE("cores: a process keeps to its share, and its results tell the whole machine's") {
  const pid_t child = fork();
  if (child == 0) {
    const auto all = usable_cores();
    use_cores({all.back()});
    const bool kept = usable_cores() == std::vector<int64_t>{all.back()};
    _exit(kept && this_machine().cores == std::ssize(all) ? 0 : 1);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  REQUIRE(WEXITSTATUS(status) == 0);
}
