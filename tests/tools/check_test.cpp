#include "experiments/check.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "experiments/record.h"
#include "tests/catch.h"
#include "tests/tools/workplace.h"
#include "transformer/files.h"
#include "transformer/random.h"

using namespace transformer;
using Catch::Matchers::Contains;
namespace fs = std::filesystem;

namespace {

const std::vector<std::string> kSeveralCheckpoints = {
    "training.checkpoint_every=1", "training.average_last=3", "training.validate_every=2",
    "training.diagnostics_every=2"};

// All that a run depends on: not its lock, and of a sweep's run not the log.
std::vector<fs::path> files_of_run(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    const auto name = entry.path().filename();
    if (entry.is_regular_file() && name != "lock" && name != "log.txt") files.push_back(entry);
  }
  std::ranges::sort(files);
  return files;
}

void flip(const fs::path& file, uint64_t bit) {
  std::fstream bytes(file, std::ios::in | std::ios::out | std::ios::binary);
  bytes.seekg(static_cast<std::streamoff>(bit / 8));
  const int byte = bytes.get();
  bytes.seekp(static_cast<std::streamoff>(bit / 8));
  bytes.put(static_cast<char>(byte ^ (1 << (bit % 8))));
}

int flips_to_try() {
  const char* scale = std::getenv("TRANSFORMER_FAULTS");
  return scale != nullptr && std::string(scale) == "long" ? 20000 : 300;
}

}  // namespace

TEST_CASE("check: a random bit that is another in any file of a run is found, and its file named",
          "[e2e][faults]") {
  const Workplace place;
  REQUIRE(place.train("run", kSeveralCheckpoints).code == 0);
  const fs::path run = place.file("run");
  REQUIRE(faults_of(run).empty());
  const auto files = files_of_run(run);
  // Config, metrics, diagnostics, model, result, vocabulary, and translations with what they should
  // be and their checksums.
  REQUIRE(files.size() == 3 * 3 + 9);
  Random random(stream_seed(1, "flipped bits"));
  const int flips = flips_to_try();
  for (int i = 0; i < flips; ++i) {
    const fs::path& file = files[random.below(files.size())];
    const uint64_t bit = random.below(8 * fs::file_size(file));
    flip(file, bit);
    const auto faults = faults_of(run);
    INFO(file << ": bit " << bit);
    REQUIRE_FALSE(faults.empty());
    REQUIRE_THAT(faults.front(), Contains(file.string()));
    flip(file, bit);
  }
  REQUIRE(faults_of(run).empty());
  std::cout << "bits flipped and found: " << flips << "\n";
}

TEST_CASE("check: a file that is cut or gone is named", "[e2e][faults]") {
  const Workplace place;
  REQUIRE(place.train("run", kSeveralCheckpoints).code == 0);
  const fs::path run = place.file("run");
  for (const fs::path& file : files_of_run(run)) {
    INFO(file);
    const std::string sound = read_file(file);
    write_file(file, sound.substr(0, sound.size() / 2));
    REQUIRE_THAT(faults_of(run).at(0), Contains(file.string()));
    fs::remove(file);
    const auto name = file.filename();
    // Without its result a run is not complete; a config and a copy of the vocabulary are written
    // again.
    if (name != "result.json" && name != "config.json" && name != "vocabulary.model") {
      REQUIRE_THAT(faults_of(run).at(0), Contains(file.string()));
    }
    write_file(file, sound);
  }
  REQUIRE(faults_of(run).empty());
}

TEST_CASE("check command: prints what is wrong in a sweep, and says when all is sound", "[e2e]") {
  const Workplace place;
  REQUIRE(place.train("sweep/row/seed-1", kSeveralCheckpoints).code == 0);
  const auto folder = place.file("sweep/row/seed-1");
  const auto sound = run_program({"check", folder});
  REQUIRE(sound.code == 0);
  REQUIRE(sound.out.empty());
  REQUIRE_THAT(sound.err, Contains("all is sound"));
  flip(folder + "/metrics.jsonl", 100);
  write_file(place.file("sweep/sweep.json"), "{\"checksum\": 1}");
  fs::create_directory(place.file("sweep/slurm"));
  write_file(place.file("sweep/slurm/job-1.json"), "{\"checksum\": 1}");
  const auto broken = run_program({"check", place.file("sweep")});
  REQUIRE(broken.code == 1);
  REQUIRE_THAT(broken.out, Contains("sweep/sweep.json: damaged") &&
                               Contains("sweep/results.json: expected the results of a sweep") &&
                               Contains("seed-1/metrics.jsonl: line 1: damaged") &&
                               Contains("slurm/job-1.json: damaged"));
  refused(run_program({"check", place.file("data")}), 2, "expected the folder of a run or a sweep");
}

TEST_CASE("check and table say which complete runs of a sweep have no files any more", "[e2e]") {
  const Workplace place;
  REQUIRE(place.train("run").code == 0);
  const fs::path sweep = place.file("sweep"), run = sweep / "base/seed-1";
  fs::create_directories(run.parent_path());
  fs::rename(place.file("run"), run);
  Results results;
  results.rows.emplace_back();
  results.rows[0].id = results.rows[0].group = "base";
  results.results = {{"base", 1, RunState::complete, read_result(run / "result.json")}};
  write_results(sweep / "results.json", results);
  write_file(sweep / "sweep.json", "{}");
  REQUIRE(run_program({"check", sweep.string()}).code == 0);
  REQUIRE_THAT(run_program({"table", sweep.string()}).out, !Contains("From results.json alone"));
  fs::remove_all(run);
  const auto checked = run_program({"check", sweep.string()});
  REQUIRE(checked.code == 1);
  REQUIRE(checked.out ==
          (run / "result.json").string() + ": is missing; results.json has its figures\n");
  const auto table = run_program({"table", sweep.string()});
  REQUIRE(table.code == 0);
  REQUIRE_THAT(table.out, Contains("From results.json alone, the runs' own result.json being gone: "
                                   "all runs."));
}
