#include <algorithm>
#include <ctime>
#include <filesystem>

#include "tests/catch.h"
#include "tests/fuzz/targets.h"
#include "transformer/files.h"

using namespace transformer;

namespace {

// The most that a reader may take for a seed, of the processor; sanitizers make it slower.
#ifdef __SANITIZE_ADDRESS__
constexpr double kMostSeconds = 10;
#else
constexpr double kMostSeconds = 1;
#endif

std::vector<std::filesystem::path> seeds_of(const fuzz::Target& target) {
  std::vector<std::filesystem::path> seeds;
  const auto folder = std::filesystem::path(TRANSFORMER_SOURCE) / "tests/fuzz/seeds" / target.name;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) seeds.push_back(entry);
  std::ranges::sort(seeds);
  return seeds;
}

}  // namespace

TEST_CASE("fuzz: each kept input is read or refused, as its name says", "[fuzz]") {
  for (const auto& target : fuzz::kTargets) {
    int sound = 0;
    for (const auto& seed : seeds_of(target)) {
      INFO(seed);
      const std::string name = seed.filename().string();
      const bool is_sound = name.starts_with("sound-");
      REQUIRE((is_sound || name.starts_with("refused-")));
      const std::clock_t start = std::clock();
      REQUIRE(fuzz::accepts(target, read_file(seed)) == is_sound);
      REQUIRE(static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC < kMostSeconds);
      sound += is_sound ? 1 : 0;
    }
    INFO(target.name);
    REQUIRE(sound > 0);  // seeds that all are refused would reach little
  }
}
