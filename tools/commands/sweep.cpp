#include "experiments/sweep.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <iostream>

#include "experiments/grid.h"
#include "experiments/machine.h"
#include "experiments/record.h"
#include "experiments/runner.h"
#include "experiments/significance.h"
#include "experiments/summary.h"
#include "experiments/sweep_folder.h"
#include "experiments/table.h"
#include "tools/commands/arguments.h"
#include "tools/commands/commands.h"
#include "tools/commands/program_memory.h"
#include "tools/commands/sweep_plan.h"
#include "tools/commands/sweep_progress.h"
#include "transformer/error.h"
#include "transformer/resident_memory.h"
#include "transformer/train/device.h"
#include "transformer/train/rendezvous.h"
#include "transformer/train/state.h"

namespace transformer {
namespace fs = std::filesystem;

namespace {

std::vector<int64_t> read_seeds(const std::string& text) {
  std::vector<int64_t> seeds;
  for (const auto& piece : split_list(text, "--seeds")) {
    int64_t seed = 0;
    const auto [end, error] = std::from_chars(piece.data(), piece.data() + piece.size(), seed);
    if (error != std::errc() || end != piece.data() + piece.size()) {
      throw UserError("--seeds: expected integers such as 1,2,3; got " + fields::shown_name(text));
    }
    seeds.push_back(seed);
  }
  check_seeds(seeds, "--seeds");
  return seeds;
}

double work(const Config& config) {
  return config.model.V.stated() ? total_flops(config)
                                 : static_cast<double>(config.training.train_steps);
}

// Given in GFLOP/s; else measured, which says nothing of another device than this processor.
Rate rate_for(const Arguments& arguments) {
  if (arguments.has("gflops")) {
    const double rate = arguments.positive_number("gflops") * 1e9;
    return [rate](const Config&) { return rate; };
  }
  if (arguments.has("device") && arguments.get<std::string>("device") != "cpu") {
    return [](const Config&) { return std::nullopt; };
  }
  return measured_rate;
}

RunnerOptions runner_options(const Sweep& known, const Arguments& arguments) {
  constexpr int64_t kMostJobs = 10000;
  RunnerOptions options;
  if (arguments.has("out")) options.folder = arguments.get<std::string>("out");
  const Machine machine = this_machine();
  const bool other_device =
      arguments.has("device") && arguments.get<std::string>("device") != "cpu";
  if (arguments.has("jobs")) {
    options.jobs = arguments.integer("jobs", 1, kMostJobs);
  } else if (!other_device) {
    double largest = 0;
    const auto program = static_cast<double>(memory_status("VmRSS").value_or(0));  // as a run's
    for (const auto& row : known.rows) {
      if (row.config.model.V.stated()) {
        largest = std::max(largest, peak_memory(row.config, program));
      }
    }
    options.jobs = default_jobs(machine, largest, std::ssize(known.rows) * std::ssize(known.seeds));
  }
  options.threads = arguments.has("threads") ? arguments.integer("threads", 1, kMostThreads)
                                             : std::max<int64_t>(1, machine.cores / options.jobs);
  constexpr int64_t kMostRetries = 1000;
  options.retries = arguments.has("retries") ? arguments.integer("retries", 0, kMostRetries) : 1;
  const auto limit = [&](const char* name) {
    return arguments.has(name)
               ? read_duration(arguments.get<std::string>(name), std::string("--") + name)
               : std::chrono::seconds(0);
  };
  options.limits = {.time = limit("time-limit"), .silence = limit("stuck-after")};
  if (arguments.has("device")) {
    options.device = arguments.get<std::string>("device");
    device_named(options.device);  // rather now than once a run
  }
  return options;
}

std::string damage_of_model(const fs::path& model) {
  try {
    read_state(model, ChecksumRule::required);
    return "";
  } catch (const UserError& damage) {
    return damage.what();
  }
}

// Of the rows and seeds that were selected.
Results selected_results(const fs::path& folder, const Sweep& selected) {
  Results results = read_sweep_results(folder);
  const auto is_selected = [&](const std::string& id) {
    return std::any_of(selected.rows.begin(), selected.rows.end(),
                       [&](const SweepRow& row) { return row.id == id; });
  };
  const auto& seeds = selected.seeds;
  std::erase_if(results.rows, [&](const RowRecord& row) { return !is_selected(row.id); });
  std::erase_if(results.results, [&](const RunRecord& run) {
    return !is_selected(run.id) || std::find(seeds.begin(), seeds.end(), run.seed) == seeds.end();
  });
  return results;
}

int run_and_report(const Sweep& sweep, const Sweep& selected, const RunnerOptions& options) {
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
  if (outcome.diverged > 0) std::cerr << ", " << outcome.diverged << " diverged";
  if (outcome.failed > 0) std::cerr << ", " << outcome.failed << " failed";
  if (outcome.left > 0) std::cerr << ", " << outcome.left << " not done; the same command goes on";
  const fs::path results = options.folder / "results.json";
  std::cerr << "\nresults: " << results.string() << "\ntable: transformer table "
            << options.folder.string() << "\n\n";
  if (outcome.complete + outcome.diverged > 0) {
    const auto summary = summarize(selected_results(options.folder, selected));
    std::cout << format_table(summary, TableFormat::text,
                              {.p_values = p_values_to_base(summary, details_in(options.folder))});
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
      cxxopts::value<std::string>(),
      "K")("threads", "of each run (cores / jobs)", cxxopts::value<std::string>(), "T")(
      "retries",
      "how often a run that failed is tried again, unless its config is at fault or it diverged "
      "(1)",
      cxxopts::value<std::string>(),
      "N")("time-limit", "end a run after so long, with a checkpoint: 90s, 15m, 2h, 1d",
           cxxopts::value<std::string>(), "T")(
      "stuck-after", "end a run that gives no sign of life for so long: no step, no translation",
      cxxopts::value<std::string>(),
      "T")("device", "where runs compute, as for train", cxxopts::value<std::string>(), "D")(
      "dry-run",
      "print rows, parameters, FLOPs, peak memory and time, beside what runs in --out measured; "
      "train nothing")(
      "gflops", "rate of a run for the dry run's times, in GFLOP/s (measured on steps of each row)",
      cxxopts::value<std::string>(), "X")("json", "the dry run as JSON");
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
  if (rendezvous_of_environment()) {
    throw UserError(
        "sweep: expected one process; WORLD_SIZE or srun's variables say that this is one of "
        "several, as train may be");
  }
  Sweep sweep = load_sweep(arguments->positional[0], arguments->overrides);
  if (arguments->has("seeds")) sweep.seeds = read_seeds(arguments->get<std::string>("seeds"));
  Sweep selected = sweep;
  if (arguments->has("rows")) {
    select_rows(selected, split_list(arguments->get<std::string>("rows"), "--rows"));
  }
  const Sweep known = with_vocabulary_size(selected);
  RunnerOptions runner = runner_options(known, *arguments);
  runner.work = work;
  runner.damage_of_model = damage_of_model;
  const Rate rate = rate_for(*arguments);
  if (arguments->has("dry-run")) {
    PlanBasis basis{rate, program_memory(), runner.jobs};
    if (arguments->has("out")) {  // refused now, if ever
      expect_own_sweep(runner.folder, sweep);
      joined_with(runner.folder, sweep);
      if (fs::exists(runner.folder / "results.json")) {
        basis.results = selected_results(runner.folder, selected);
      }
    }
    use_threads(runner.threads);
    arguments->has("json") ? print_plan_json(known, basis) : print_plan(known, basis);
    return 0;
  }
  if (arguments->has("gflops")) throw UserError("--gflops: stands with --dry-run");
  if (arguments->has("json"))
    throw UserError("--json: stands with --dry-run; results are in DIR/results.json");
  if (!arguments->has("out"))
    throw UserError("--out: expected the sweep's folder, such as --out results/mini");
  return run_and_report(sweep, selected, runner);
}

}  // namespace transformer
