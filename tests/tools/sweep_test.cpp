#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string>

#include "experiments/sweep.h"
#include "tests/catch.h"

using namespace transformer;
using Catch::Matchers::Contains;
namespace fs = std::filesystem;

namespace {

struct Ran {
  int code = -1;
  std::string output;  // of both kinds
};

// `transformer sweep WORDS` in the repository's folder, through a shell.
Ran sweep(const std::string& words) {
  const std::string command =
      "cd " TRANSFORMER_SOURCE " && " TRANSFORMER_PROGRAM " sweep " + words + " 2>&1";
  Ran ran;
  FILE* pipe = popen(command.c_str(), "r");
  char buffer[4096];
  while (const size_t count = std::fread(buffer, 1, sizeof buffer, pipe))
    ran.output.append(buffer, count);
  const int status = pclose(pipe);
  ran.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return ran;
}

}  // namespace

TEST_CASE("sweep command: the dry run as JSON, with comma lists whole and lists in quotes",
          "[e2e]") {
  const auto ran = sweep(R"(configs/mini.json model.N=1,2 'data.train=["a","b"]' --seeds 3,4 )"
                         "--dry-run --json --gflops 2");
  INFO(ran.output);
  REQUIRE(ran.code == 0);
  const Json json = parse_json(ran.output, "dry run");
  REQUIRE(json["rows"].size() == 2);
  REQUIRE(json["seeds"] == Json{3, 4});
  const Json& row = json["rows"][1];
  REQUIRE(row["id"] == "N-2");
  REQUIRE(row["set"] == Json{{"model.N", 2}});
  // 2000 · 64, then per layer: attention 4 · 64 · 64, three times; feed-forward 2 · 64 · 256 + 256
  // + 64, twice; norms 2 · 64, five times.
  REQUIRE(row["parameters"] ==
          1000 * 64 + 2 * (3 * 4 * 64 * 64 + 2 * (2 * 64 * 256 + 320) + 5 * 128));
  REQUIRE(row["seconds"].get<double>() == Approx(row["flops"].get<double>() / 2e9));
}

TEST_CASE("sweep command: wrong usage is one line and exit code 2", "[e2e]") {
  const auto refused = [](const std::string& words, const std::string& message) {
    const auto ran = sweep(words);
    INFO(ran.output);
    REQUIRE(ran.code == 2);
    REQUIRE_THAT(ran.output, Contains(message));
    REQUIRE(std::count(ran.output.begin(), ran.output.end(), '\n') == 1);
  };
  refused("configs/table3-mini.json", "--out: expected the sweep's folder");
  refused("configs/table3-mini.json --dry-run --rows base,A-h2",
          "row A-h2: not in this sweep; did you mean A-h");
  refused("configs/table3-mini.json --dry-run --seeds 1,x",
          "--seeds: expected integers such as 1,2,3; got 1,x");
  refused("configs/table3-mini.json --dry-run --seeds 0", "--seeds: expected seeds from 1; got 0");
  refused("configs/mini.json --dry-run model.hh=1,2",
          "model.hh: unknown key; did you mean model.h?");
  refused("configs/mini.json --out x --jobs 0", "--jobs: expected at least 1; got 0");
}

TEST_CASE("sweep command: a run that fails does not stop the others, and the exit code is 1",
          "[e2e]") {
  const fs::path folder =
      fs::temp_directory_path() / ("transformer_sweep_command_" + std::to_string(getpid()));
  fs::remove_all(folder);
  const auto ran = sweep(
      "configs/mini.json model.N=1,2 data.train=/no/such/corpus "
      "data.vocabulary=/no/such/vocabulary --out " +
      folder.string());
  INFO(ran.output);
  REQUIRE(ran.code == 1);
  REQUIRE_THAT(ran.output,
               Contains("N-1: failed: ") && Contains("N-2: failed: ") && Contains("2 failed"));
  REQUIRE(read_json(folder / "results.json")["results"][1]["state"] == "failed");
  fs::remove_all(folder);
}
