#include "experiments/curves.h"

#include <sys/stat.h>

#include <fstream>

#include "tests/catch.h"
#include "tests/temporary_folder.h"

using namespace transformer;

namespace {

void append(const std::filesystem::path& file, const std::string& text) {
  std::ofstream(file, std::ios::app) << text;
}

}  // namespace

TEST_CASE("curves: what grows is read once it is whole, and again where the file is another one") {
  const TemporaryFolder folder;
  const auto file = folder / "metrics.jsonl";
  GrowingCurves curves(file, {"nll", "valid_perplexity"});
  REQUIRE_FALSE(curves.look());

  append(file, "{\"step\":1,\"nll\":2.5}\n{\"step\":2,\"valid_perplexity\":9}\nnot JSON\n{\"ste");
  REQUIRE(curves.look());
  REQUIRE(curves.curve("nll") == Curve{{1, 2.5}});
  REQUIRE(curves.curve("valid_perplexity") == Curve{{2, 9.0}});

  append(file, "p\":3,\"nll\":1.5}\n");
  REQUIRE(curves.look());
  REQUIRE_FALSE(curves.look());
  REQUIRE(curves.curve("nll") == Curve{{1, 2.5}, {3, 1.5}});

  std::ofstream(folder / "new") << "{\"step\":1,\"nll\":7}\n{\"step\":2,\"nll\":6}\n";
  std::filesystem::rename(folder / "new", file);
  REQUIRE(curves.look());
  REQUIRE(curves.curve("nll") == Curve{{1, 7.0}, {2, 6.0}});
  REQUIRE(curves.curve("valid_perplexity").empty());

  std::filesystem::remove(file);
  REQUIRE(curves.look());
  REQUIRE(curves.curve("nll").empty());
}

TEST_CASE("curves: many points are thinned, the last one kept") {
  const TemporaryFolder folder;
  for (int step = 1; step <= 1000; ++step) {
    append(folder / "metrics.jsonl", "{\"step\":" + std::to_string(step) + ",\"nll\":1}\n");
  }
  const auto curve = learning_curve(folder / "metrics.jsonl", "nll", 100);
  REQUIRE(curve.size() == 100);
  REQUIRE(curve.back().first == 1000);
}

TEST_CASE("curves: what might have no end is as if it were not there") {
  const TemporaryFolder folder;
  const auto file = folder / "metrics.jsonl";
  REQUIRE(mkfifo(file.c_str(), 0600) == 0);
  REQUIRE_FALSE(GrowingCurves(file, {"nll"}).look());
  std::filesystem::remove(file);
  std::filesystem::create_symlink("/dev/zero", file);
  REQUIRE_FALSE(GrowingCurves(file, {"nll"}).look());
}
