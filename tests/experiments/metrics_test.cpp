#include "experiments/metrics.h"

#include <sys/stat.h>

#include "tests/catch.h"
#include "tests/temporary_folder.h"
#include "transformer/error.h"
#include "transformer/files.h"

using namespace transformer;
using Catch::Matchers::Contains;
namespace fs = std::filesystem;

namespace {

std::string steps_of(const Metrics& metrics) {
  std::string text;
  for (const auto& line : metrics.lines) text += line["step"].dump() + " ";
  return text;
}

// Logs every step, validates every second one.
TrainingConfig training() {
  TrainingConfig training;
  training.log_every = 1;
  training.validate_every = 2;
  return training;
}

void write_three_steps(const fs::path& path) {
  MetricsFile file(path, {});
  file.append({{"step", 1}, {"loss", 0.1}});
  file.append({{"step", 2}, {"loss", 1e-9}});
  file.append({{"step", 2}, {"valid_perplexity", 2.25}});
  file.append({{"step", 3}, {"loss", 0.5}});
}

}  // namespace

TEST_CASE("metrics: what was appended comes back, and a file goes on with what it kept") {
  const TemporaryFolder folder;
  const auto path = folder / "metrics.jsonl";
  write_three_steps(path);
  auto there = read_metrics(path);
  REQUIRE(there.damage.empty());
  REQUIRE(steps_of(there) == "1 2 2 3 ");
  REQUIRE(there.lines[2] == Json{{"step", 2}, {"valid_perplexity", 2.25}});
  there.lines.pop_back();
  MetricsFile(path, there.lines).append({{"step", 4}, {"loss", 0.25}});
  REQUIRE(steps_of(read_metrics(path)) == "1 2 2 4 ");
  REQUIRE(read_metrics(folder / "none").lines.empty());
}

TEST_CASE("metrics: a line cut short is no damage, and lines of earlier versions are read") {
  const TemporaryFolder folder;
  const auto path = folder / "metrics.jsonl";
  put(path, "{\"step\":1}\n{\"step\":2,\"loss\":0.5}\n{\"st");
  REQUIRE(steps_of(read_metrics(path)) == "1 2 ");
  REQUIRE(read_metrics(path).damage.empty());
  MetricsFile(path, read_metrics(path).lines).append({{"step", 3}});  // from now on all have one
  REQUIRE(steps_of(read_metrics(path)) == "1 2 3 ");
  put(path, "{\"step\":1}\nnonsense\n{\"step\":2}\n");
  REQUIRE(steps_of(read_metrics(path)) == "1 2 ");
  REQUIRE_THAT(read_metrics(path).damage.at(0), Contains("metrics.jsonl: line 2: damaged"));
}

TEST_CASE("metrics: every single bit that is another costs its line, and is told") {
  const TemporaryFolder folder;
  const auto path = folder / "metrics.jsonl";
  write_three_steps(path);
  const std::string sound = read_file(path);
  REQUIRE(missing_metrics(read_metrics(path).lines, training(), 3, false).empty());
  for (size_t bit = 0; bit < 8 * sound.size(); ++bit) {
    std::string damaged = sound;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    put(path, damaged);
    INFO("bit " << bit << " of\n" << damaged);
    const auto there = read_metrics(path);
    const auto missing = missing_metrics(there.lines, training(), 3, false);
    REQUIRE(there.damage.size() + missing.size() > 0);
    REQUIRE(there.lines.size() < 4);
  }
}

TEST_CASE("metrics: the steps whose lines are lost are named") {
  const TemporaryFolder folder;
  const auto path = folder / "metrics.jsonl";
  write_three_steps(path);
  const auto lines = read_metrics(path).lines;
  REQUIRE(missing_metrics(lines, training(), 4, true) ==
          std::vector<std::string>{"the lines of these steps are lost: 4"});
  REQUIRE(missing_metrics(lines, training(), 4, false).at(1) ==
          "the validation lines of these steps are lost: 4");
  REQUIRE(missing_metrics({}, training(), 9, false).at(0) ==
          "the lines of these steps are lost: 1, 2, 3, 4, 5, ... (9 in all)");
}

TEST_CASE("metrics: diagnostics are lines like any other, of earlier versions too") {
  const TemporaryFolder folder;
  const auto path = folder / "diagnostics.jsonl";
  put(path, "{\"step\":3,\"sublayers\":[{\"trunk\":0.5}]}\n{\"step\":6,\"sublayers\":\"x\"}\n");
  const auto earlier = read_metrics(path);
  REQUIRE(steps_of(earlier) == "3 ");
  REQUIRE(earlier.damage.size() == 1);
  MetricsFile(path, earlier.lines)
      .append({{"step", 9}, {"sublayers", Json::array({{{"q", 0.1}}})}});
  const auto there = read_metrics(path);
  REQUIRE(there.damage.empty());
  REQUIRE(there.lines[1]["sublayers"][0]["q"] == 0.1);
  TrainingConfig training;
  REQUIRE(missing_diagnostics(there.lines, training, 9).empty());  // by default there are none
  training.diagnostics_every = 3;
  REQUIRE(missing_diagnostics(there.lines, training, 5).empty());
  REQUIRE(missing_diagnostics(there.lines, training, 9) ==
          std::vector<std::string>{"the diagnostics of these steps are lost: 6"});
}

TEST_CASE("metrics: a file that is removed or replaced meanwhile is written again, whole") {
  const TemporaryFolder folder;
  const auto path = folder / "metrics.jsonl";
  std::string told;
  MetricsFile file(path, {}, [&](const std::string& text) { told = text; });
  file.append({{"step", 1}, {"loss", 0.5}});
  fs::remove(path);
  file.append({{"step", 2}, {"loss", 0.5}});
  REQUIRE_THAT(told, Contains("metrics.jsonl: was removed meanwhile"));
  write_file(path, "another's");
  file.append({{"step", 3}, {"loss", 0.5}});
  file.append({{"step", 4}, {"loss", 0.5}});
  REQUIRE(steps_of(read_metrics(path)) == "1 2 3 4 ");
  fs::remove_all(folder.path());
  REQUIRE_THROWS_AS(file.append({{"step", 5}}), Failure);
}

TEST_CASE("metrics: what might have no end is refused, and nobody is waited for") {
  const TemporaryFolder folder;
  const auto path = folder / "metrics.jsonl";
  REQUIRE(mkfifo(path.c_str(), 0600) == 0);
  REQUIRE_THROWS_WITH(read_metrics(path), Contains("expected a regular file"));
  fs::remove(path);
  fs::create_symlink("/dev/zero", path);
  REQUIRE_THROWS_WITH(read_metrics(path), Contains("expected a regular file"));
}

TEST_CASE("metrics: a thousand million missing lines are counted, not kept") {
  const auto missing =
      missing_metrics({{{"step", 2}, {"loss", 0.5}}}, training(), 999'999'999, false);
  REQUIRE(missing.size() == 2);
  REQUIRE(missing[0] == "the lines of these steps are lost: 1, 3, 4, 5, 6, ... (999999998 in all)");
  REQUIRE(missing[1] ==
          "the validation lines of these steps are lost: 2, 4, 6, 8, 10, ... (499999999 in all)");
}
