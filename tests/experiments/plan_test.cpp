#include "experiments/plan.h"

#include "tests/catch.h"

using namespace transformer;
namespace fs = std::filesystem;

namespace {

Sweep sweep_named(const std::string& name) {
  return load_sweep(fs::path(TRANSFORMER_SOURCE) / "configs" / name);
}

RowPlan row_of(const Sweep& sweep, const std::string& id, const Rate& rate) {
  for (const auto& row : sweep.rows) {
    if (row.id == id) return plan(row, rate);
  }
  return {};
}

std::optional<double> no_rate(const Config&) { return std::nullopt; }

}  // namespace

TEST_CASE("plan: Table 3's parameters at V = 37000") {
  // V d + N (attention + feed-forward + 4 d) + N (2 attention + feed-forward + 6 d), worked out
  // apart.
  const std::vector<std::pair<std::string, int64_t>> expected = {
      {"base", 63045632},   {"A-h1", 63045632},     {"A-h32", 63045632},    {"B-k16", 55967744},
      {"B-k32", 58327040},  {"C-N2", 33644544},     {"C-N4", 48345088},     {"C-N8", 77746176},
      {"C-d256", 26816512}, {"C-d1024", 163815424}, {"C-ff1024", 50450432}, {"C-ff4096", 88236032},
      {"D-ls0", 63045632},  {"E", 63569920},        {"big", 214171648}};
  const auto sweep = sweep_named("table3.json");
  for (const auto& [id, parameters] : expected) {
    INFO(id);
    REQUIRE(row_of(sweep, id, no_rate).parameters == parameters);
  }
}

TEST_CASE("plan: big costs three times the steps of a larger model; time is FLOPs over the rate") {
  const Rate rate = [](const Config& config) { return config.model.N == 1 ? 1e9 : 2e9; };
  const auto mini = sweep_named("table3-mini.json");
  const auto shallow = row_of(mini, "C-N2", rate);
  REQUIRE(shallow.seconds.value() == Approx(shallow.flops.value() / 1e9));
  const auto base = row_of(mini, "base", rate);
  REQUIRE(base.seconds.value() == Approx(base.flops.value() / 2e9));
  const auto big = row_of(mini, "big", rate);
  REQUIRE(big.flops.value() > 3 * base.flops.value());
  REQUIRE(big.memory_bytes.value() > base.memory_bytes.value());
  REQUIRE_FALSE(row_of(mini, "base", no_rate).seconds);
  REQUIRE(base.paper.bleu == 25.8);
}

TEST_CASE("plan: without V only what the row sets is known") {
  SweepRow row;
  row.config = resolve(Config{});
  row.set = {{"model.h", 1}};
  const auto unknown = plan(row, [](const Config&) { return 1e9; });
  REQUIRE_FALSE(unknown.parameters);
  REQUIRE_FALSE(unknown.flops);
  REQUIRE_FALSE(unknown.seconds);
  REQUIRE(
      to_json(unknown).dump() ==
      R"({"id":"","group":"","set":{"model.h":1},"parameters":null,"flops":null,"memory_bytes":null,)"
      R"("seconds":null,"paper":{"perplexity":null,"bleu":null,"parameters":null},)"
      R"("measured_memory_bytes":null,"measured_seconds":null})");
}

TEST_CASE("plan: the program's memory counts once, and what complete runs measured stands beside") {
  const auto mini = sweep_named("table3-mini.json");
  const auto base = row_of(mini, "base", no_rate);
  RowPlan row = plan(mini.rows.front(), no_rate, 1e9);
  REQUIRE(row.memory_bytes.value() == Approx(base.memory_bytes.value() + 1e9));

  const auto run = [](const std::string& id, int64_t seed, int64_t bytes, double seconds) {
    Result result;
    result.peak_memory_bytes = bytes;
    result.seconds = seconds;
    return RunRecord{.id = id, .seed = seed, .state = RunState::complete, .result = result};
  };
  Results results;
  results.results = {run("base", 1, 300, 10), run("A-h1", 1, 900, 90), run("base", 2, 200, 14),
                     RunRecord{.id = "base", .seed = 3, .state = RunState::missing, .result = {}}};
  add_measured(row, results);
  REQUIRE(row.measured_memory_bytes == 300);
  REQUIRE(row.measured_seconds == 12);
  RowPlan other = row_of(mini, "big", no_rate);
  add_measured(other, results);
  REQUIRE_FALSE(other.measured_memory_bytes);
}

TEST_CASE("plan: jobs by cores, by runs and by memory") {
  const auto jobs = [](int64_t cores, double run_bytes, int64_t runs) {
    Machine machine;
    machine.cores = cores;
    machine.memory_bytes = 10'000;
    return default_jobs(machine, run_bytes, runs);
  };
  REQUIRE(jobs(1, 0, 20) == 1);
  REQUIRE(jobs(2, 0, 20) == 2);
  REQUIRE(jobs(8, 0, 20) == 4);
  REQUIRE(jobs(64, 0, 20) == 8);
  REQUIRE(jobs(64, 0, 3) == 3);
  REQUIRE(jobs(64, 2'000, 20) == 4);  // 8,000 of 10,000 bytes may be used
  REQUIRE(jobs(2, 50'000, 20) == 1);
  REQUIRE(jobs(2, 100, 0) == 1);
}
