#include "experiments/time_left.h"

#include "tests/catch.h"

using namespace transformer;

TEST_CASE("time left: work still to do over the rate since the start") {
  TimeLeft left;
  left.add({"base", 1}, 100);
  left.add({"big", 1}, 300);
  REQUIRE(!left.seconds(1));
  left.start({"base", 1}, 0);
  left.reach({"base", 1}, 0.5);
  REQUIRE(left.seconds(10).value() == Approx(70));  // 50 done in 10 s, 350 left
  left.reach({"base", 1}, 1);
  left.end({"base", 1});
  REQUIRE(left.seconds(20).value() == Approx(60));
}

TEST_CASE("time left: what was done before the start is not counted as done in no time") {
  TimeLeft left;
  left.add({"base", 1}, 100);
  left.add({"big", 1}, 300);
  left.start({"big", 1}, 0.9);
  REQUIRE(!left.seconds(5));
  left.reach({"big", 1}, 1);
  left.end({"big", 1});
  REQUIRE(left.seconds(30).value() == Approx(100));  // 30 done in 30 s, 100 left
}

TEST_CASE("time left: of a run that failed nothing is waited for, and what it did was work") {
  TimeLeft left;
  left.add({"base", 1}, 100);
  left.add({"base", 2}, 100);
  left.start({"base", 1}, 0);
  left.reach({"base", 1}, 0.25);
  left.end({"base", 1});
  REQUIRE(left.seconds(10).value() == Approx(40));
}
