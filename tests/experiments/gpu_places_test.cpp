#include "experiments/gpu_places.h"

#include <cstdlib>

#include "tests/catch.h"

using namespace transformer;

TEST_CASE("GPU places: a run is placed where the fewest are, from one queue") {
  GpuPlaces places({2, 0, 5});
  REQUIRE(places.take() == 2);
  REQUIRE(places.take() == 0);
  REQUIRE(places.take() == 5);
  REQUIRE(places.take() == 2);  // a second one, when there are more runs than GPUs
  places.give_back(5);
  REQUIRE(places.take() == 5);
  places.give_back(2);
  places.give_back(2);
  places.give_back(0);
  REQUIRE(places.take() == 2);
}

TEST_CASE("GPU places: a run sees its own GPU alone, counted among those that the sweep sees") {
  const GpuPlaces places({0, 1});
  unsetenv(kVisibleGpus);
  REQUIRE(places.visible(1) == "1");
  setenv(kVisibleGpus, "3,GPU-8932f937", 1);
  REQUIRE(places.visible(0) == "3");
  REQUIRE(places.visible(1) == "GPU-8932f937");
  unsetenv(kVisibleGpus);
}
