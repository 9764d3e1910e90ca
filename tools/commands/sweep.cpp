#include "experiments/sweep.h"

#include <charconv>
#include <functional>
#include <iostream>

#include "experiments/grid.h"
#include "experiments/machine.h"
#include "experiments/record.h"
#include "experiments/runner.h"
#include "experiments/summary.h"
#include "experiments/table.h"
#include "tools/commands/arguments.h"
#include "tools/commands/commands.h"
#include "tools/commands/sweep_plan.h"
#include "tools/commands/sweep_progress.h"
#include "transformer/error.h"

namespace transformer {
namespace fs = std::filesystem;

namespace {

std::vector<int64_t> read_seeds(const std::string& text) {
  std::vector<int64_t> seeds;
  for (const auto& piece : split_list(text, "--seeds")) {
    int64_t seed = 0;
    const auto [end, error] = std::from_chars(piece.data(), piece.data() + piece.size(), seed);
    if (error != std::errc() || end != piece.data() + piece.size()) {
      throw UserError("--seeds: expected integers such as 1,2,3; got " + text);
    }
    seeds.push_back(seed);
  }
  check_seeds(seeds, "--seeds");
  return seeds;
}

int64_t at_least_one(const Arguments& arguments, const std::string& option) {
  const auto value = arguments.get<int64_t>(option);
  if (value < 1)
    throw UserError("--" + option + ": expected at least 1; got " + std::to_string(value));
  return value;
}

double work(const Config& config) {
  return config.model.V.stated() ? total_flops(config)
                                 : static_cast<double>(config.training.train_steps);
}

// Given in GFLOP/s; else measured, which says nothing of another device than this processor.
Rate rate_for(const Arguments& arguments) {
  if (arguments.has("gflops")) {
    const double rate = arguments.get<double>("gflops") * 1e9;
    if (!(rate > 0)) throw UserError("--gflops: expected more than 0");
    return [rate](const Config&) { return rate; };
  }
  if (arguments.has("device") && arguments.get<std::string>("device") != "cpu") {
    return [](const Config&) { return std::nullopt; };
  }
  return measured_rate;
}

RunnerOptions runner_options(const Sweep& known, const Arguments& arguments) {
  RunnerOptions options{.folder = arguments.get<std::string>("out")};
  const Machine machine = this_machine();
  const bool other_device =
      arguments.has("device") && arguments.get<std::string>("device") != "cpu";
  if (arguments.has("jobs")) {
    options.jobs = at_least_one(arguments, "jobs");
  } else if (!other_device) {
    double largest = 0;
    for (const auto& row : known.rows) {
      largest =
          std::max(largest, plan(row, [](auto&) { return std::nullopt; }).memory_bytes.value_or(0));
    }
    options.jobs = default_jobs(machine, largest, std::ssize(known.rows) * std::ssize(known.seeds));
  }
  options.threads = arguments.has("threads") ? at_least_one(arguments, "threads")
                                             : std::max<int64_t>(1, machine.cores / options.jobs);
  if (arguments.has("device")) options.device = arguments.get<std::string>("device");
  return options;
}

int run_and_report(const Sweep& sweep, const Sweep& selected, const Arguments& arguments) {
  const Sweep known = with_vocabulary_size(selected);
  RunnerOptions options = runner_options(known, arguments);
  options.work = work;
  std::cerr << counted(selected.rows.size(), "row") << ", "
            << counted(selected.seeds.size(), "seed") << ", "
            << counted(static_cast<size_t>(options.jobs), "run") << " at a time, "
            << counted(static_cast<size_t>(options.threads), "thread") << " each\n";
  SweepOutcome outcome;
  {
    SweepProgress progress(selected, options.folder, work);
    outcome = run_sweep(sweep, selected, options, std::ref(progress));
  }
  std::cerr << counted(static_cast<size_t>(outcome.complete), "run") << " complete";
  if (outcome.failed > 0) std::cerr << ", " << outcome.failed << " failed";
  if (outcome.left > 0) std::cerr << ", " << outcome.left << " not done; the same command goes on";
  const fs::path results = options.folder / "results.json";
  std::cerr << "\nresults: " << results.string() << "\ntable: transformer table "
            << options.folder.string() << "\n\n";
  if (outcome.complete > 0) {
    std::cout << format_table(summarize(read_results(results)), TableFormat::text);
  }
  return outcome.exit_code();
}

}  // namespace

int sweep_command(int argc, char** argv) {
  cxxopts::Options options("transformer sweep");
  options.add_options()("out", "the sweep's folder; one that is there goes on where it stopped",
                        cxxopts::value<std::string>(), "DIR")(
      "rows", "run these rows alone: base,A-h1", cxxopts::value<std::string>(), "IDS")(
      "seeds", "instead of the sweep's own: 1,2,3", cxxopts::value<std::string>(), "SEEDS")(
      "jobs",
      "runs at a time (2 from 2 cores on, 4 from 8, 8 from 32, where memory allows; 1 on another "
      "device)",
      cxxopts::value<int64_t>(),
      "K")("threads", "of each run (cores / jobs)", cxxopts::value<int64_t>(), "T")(
      "device", "where runs compute, as for train", cxxopts::value<std::string>(), "D")(
      "dry-run", "print rows, parameters, FLOPs, memory and time; train nothing")(
      "gflops",
      "rate for the dry run's times, in GFLOP/s (measured on matrix products of each row's size)",
      cxxopts::value<double>(), "X")("json", "the dry run as JSON");
  const auto arguments =
      parse(options,
            {.name = "sweep",
             .summary = "Runs every row of a sweep, each in a process and a folder of its own, and "
                        "goes on where it\n"
                        "was stopped. SWEEP is a sweep file, or an experiment with comma lists "
                        "that make a grid.",
             .usage = "SWEEP --out DIR [key=value[,value...]...]",
             .example = "transformer sweep configs/table3-mini.json --out results/mini\n"
                        "  transformer sweep configs/table3.json --dry-run\n"
                        "  transformer sweep configs/mini.json --out results/norm "
                        "model.norm_placement=post,pre training.warmup_steps=0,200",
             .fewest = 1,
             .most = 1,
             .with_overrides = true},
            argc, argv);
  if (!arguments) return 0;
  Sweep sweep = load_sweep(arguments->positional[0], arguments->overrides);
  if (arguments->has("seeds")) sweep.seeds = read_seeds(arguments->get<std::string>("seeds"));
  Sweep selected = sweep;
  if (arguments->has("rows")) {
    select_rows(selected, split_list(arguments->get<std::string>("rows"), "--rows"));
  }
  if (arguments->has("dry-run")) {
    const Sweep known = with_vocabulary_size(selected);
    const Rate rate = rate_for(*arguments);
    arguments->has("json") ? print_plan_json(known, rate) : print_plan(known, rate);
    return 0;
  }
  if (arguments->has("json"))
    throw UserError("--json: stands with --dry-run; results are in DIR/results.json");
  if (!arguments->has("out"))
    throw UserError("--out: expected the sweep's folder, such as --out results/mini");
  return run_and_report(sweep, selected, *arguments);
}

}  // namespace transformer
