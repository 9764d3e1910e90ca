#include "experiments/sweep.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <functional>
#include <iostream>

#include "experiments/cores.h"
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
#include "tools/commands/runner_options.h"
#include "tools/commands/sweep_plan.h"
#include "tools/commands/sweep_progress.h"
#include "tools/commands/sweep_slurm.h"
#include "transformer/error.h"
#include "transformer/resident_memory.h"
#include "transformer/train/device.h"
#include "transformer/train/rendezvous.h"

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

// Who does the runs: processes of this one, or Slurm.
enum class LaunchedBy { local, slurm };
constexpr auto names(LaunchedBy) { return std::array{"local", "slurm"}; }

LaunchedBy launched_by(const Arguments& arguments) {
  LaunchedBy launcher{};
  fields::read(launcher, Json(arguments.get<std::string>("launcher")), "--launcher");
  for (const char* option : {"partition", "sbatch"}) {
    if (launcher == LaunchedBy::slurm || !arguments.has(option)) continue;
    throw UserError(std::string("--") + option + ": stands with --launcher slurm");
  }
  return launcher;
}

constexpr int64_t kMostJobs = 10000;

bool is_on_other_device(const Arguments& arguments) {
  return arguments.has("devices") ||
         (arguments.has("device") && arguments.get<std::string>("device") != "cpu");
}

// Given in GFLOP/s; else measured, which says nothing of another device than this processor.
Rate rate_for(const Arguments& arguments) {
  if (arguments.has("gflops")) {
    const double rate = arguments.positive_number("gflops") * 1e9;
    return [rate](const Config&) { return rate; };
  }
  if (is_on_other_device(arguments)) return [](const Config&) { return std::nullopt; };
  return measured_rate;
}

// Runs at a time on this machine, unless they are given.
int64_t usual_jobs(const Sweep& known, const Arguments& arguments, size_t gpus) {
  if (is_on_other_device(arguments)) return std::max<int64_t>(1, static_cast<int64_t>(gpus));
  double largest = 0;
  const auto program = static_cast<double>(memory_status("VmRSS").value_or(0));  // as a run's
  for (const auto& row : known.rows) {
    if (row.config.model.V.stated()) largest = std::max(largest, peak_memory(row.config, program));
  }
  return default_jobs(this_machine(), largest, std::ssize(known.rows) * std::ssize(known.seeds));
}

// A sweep may be named by its folder, which then is the one that it goes on in.
std::optional<fs::path> folder_of(const Arguments& arguments) {
  const fs::path named = arguments.positional[0];
  std::optional<fs::path> out;
  if (arguments.has("out")) out = arguments.get<std::string>("out");
  if (!fs::is_directory(named)) return out;
  if (out && !fs::equivalent(*out, named)) {
    throw UserError("--out: " + named.string() + " is the folder of a sweep, which goes on there");
  }
  return named;
}

Sweep sweep_named(const Arguments& arguments) {
  const fs::path named = arguments.positional[0];
  if (!fs::is_directory(named)) return load_sweep(named, arguments.overrides);
  if (!arguments.overrides.empty()) {
    throw UserError(fields::shown_name(arguments.overrides[0]) + ": the sweep that " +
                    named.string() + " holds is taken as it is; name its file to change it");
  }
  if (!fs::exists(named / "sweep.json")) {
    throw UserError(named.string() +
                    ": expected a sweep's file or folder; this folder has no sweep.json");
  }
  return sweep_in(named);
}

RunnerOptions runner_options(const Arguments& arguments) {
  RunnerOptions options;
  options.folder = folder_of(arguments).value_or("");
  if (arguments.has("jobs")) options.jobs = arguments.integer("jobs", 1, kMostJobs);
  if (arguments.has("threads")) options.threads = arguments.integer("threads", 1, kMostThreads);
  if (arguments.has("device")) options.device = arguments.get<std::string>("device");
  if (arguments.has("time-limit")) {
    options.limits.time = read_duration(arguments.get<std::string>("time-limit"), "--time-limit");
  }
  read_run_limits(arguments, options);
  options.work = work;
  options.damage_of_model = damage_of_model;
  return options;
}

// On this machine: its cores and devices, which had rather be there now than once a run.
RunnerOptions local_options(const Sweep& known, const Arguments& arguments) {
  RunnerOptions options = runner_options(arguments);
  if (arguments.has("devices")) {
    if (arguments.has("device")) throw UserError("--devices: stands without --device");
    options.gpus = read_numbers(arguments.get<std::string>("devices"), "--devices", "GPUs");
  }
  if (!arguments.has("jobs")) options.jobs = usual_jobs(known, arguments, options.gpus.size());
  if (!arguments.has("threads")) {
    options.threads = std::max<int64_t>(1, this_machine().cores / options.jobs);
  }
  if (!options.device.empty()) device_named(options.device);
  for (const int64_t gpu : options.gpus) device_named("cuda:" + std::to_string(gpu));
  return options;
}

SlurmOptions slurm_options(const Arguments& arguments) {
  if (arguments.has("devices")) {
    throw UserError(
        "--devices: stands with --launcher local; Slurm finds its tasks a GPU each: "
        "--device cuda");
  }
  if (!folder_of(arguments)) {
    throw UserError("--launcher slurm: expected --out DIR, where every node finds it");
  }
  for (const char* option : {"json", "gflops"}) {
    if (!arguments.has(option)) continue;
    throw UserError(std::string("--") + option + ": stands with --launcher local");
  }
  SlurmOptions slurm;
  if (arguments.has("partition")) slurm.partition = arguments.get<std::string>("partition");
  if (arguments.has("sbatch")) {
    slurm.sbatch = read_sbatch_options(arguments.get<std::string>("sbatch"), "--sbatch");
  }
  if (arguments.has("jobs")) slurm.most_at_once = arguments.integer("jobs", 1, kMostJobs);
  return slurm;
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
      "device; with --devices one each; with Slurm as many as it likes)",
      cxxopts::value<std::string>(),
      "K")("threads", "of each run (cores / jobs; with Slurm 1)", cxxopts::value<std::string>(),
           "T")("device", "where runs compute, as for train", cxxopts::value<std::string>(), "D")(
      "devices", "place runs on these GPUs, from one queue: 0,1", cxxopts::value<std::string>(),
      "N")("time-limit",
           "end a run after so long, with a checkpoint: 90s, 15m, 2h, 1d; with Slurm it goes on in "
           "another allocation",
           cxxopts::value<std::string>(), "T");
  add_run_limits(options);
  options.add_options()("launcher", "slurm: submit a job array of what is missing",
                        cxxopts::value<std::string>()->default_value("local"),
                        choices_of<LaunchedBy>())("partition", "Slurm's partition",
                                                  cxxopts::value<std::string>(), "P")(
      "sbatch", "further options of sbatch: \"account=nlp mem=8G\"", cxxopts::value<std::string>(),
      "OPTIONS")("dry-run",
                 "print rows, parameters, FLOPs, peak memory and time, beside what runs in --out "
                 "measured, or the script for Slurm; train nothing")(
      "gflops", "rate of a run for the dry run's times, in GFLOP/s (measured on steps of each row)",
      cxxopts::value<std::string>(), "X")("json", "the dry run as JSON");
  const auto arguments =
      parse(options,
            {.name = "sweep",
             .summary = "Runs every row of a sweep, each in a process and a folder of its own, and "
                        "goes on where it\n"
                        "was stopped. SWEEP is a sweep file, or an experiment with comma lists "
                        "that make a grid,\n"
                        "or the folder of a sweep, to go on with it.",
             .usage = "SWEEP --out DIR [key=value[,value...]...]",
             .example = "transformer sweep configs/table3-mini.json --out results/mini\n"
                        "  transformer sweep configs/table3.json --dry-run\n"
                        "  transformer sweep configs/table3.json --out runs/table3 --launcher "
                        "slurm --partition gpu --device cuda --time-limit 12h\n"
                        "  transformer sweep configs/mini.json --out results/norm "
                        "model.norm_placement=post,pre training.warmup_steps=0,200\n"
                        "  transformer sweep results/norm --seeds 1,2,3",
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
  Sweep sweep = sweep_named(*arguments);
  if (arguments->has("seeds")) sweep.seeds = read_seeds(arguments->get<std::string>("seeds"));
  Sweep selected = sweep;
  if (arguments->has("rows")) {
    select_rows(selected, split_list(arguments->get<std::string>("rows"), "--rows"));
  }
  const bool is_dry = arguments->has("dry-run");
  const auto folder = folder_of(*arguments);
  if (is_dry && folder) {  // refused now, if ever
    expect_own_sweep(*folder, sweep);
    joined_with(*folder, sweep);
  }
  if (launched_by(*arguments) == LaunchedBy::slurm) {
    const SlurmOptions slurm = slurm_options(*arguments);
    return (is_dry ? print_slurm_script : sweep_in_slurm)(sweep, selected,
                                                          runner_options(*arguments), slurm);
  }
  const Sweep known = with_vocabulary_size(selected);
  const RunnerOptions runner = local_options(known, *arguments);
  const Rate rate = rate_for(*arguments);
  if (is_dry) {
    PlanBasis basis{rate, program_memory(), runner.jobs};
    if (fs::exists(runner.folder / "results.json")) {
      basis.results = selected_results(runner.folder, selected);
    }
    use_threads(runner.threads);
    arguments->has("json") ? print_plan_json(known, basis) : print_plan(known, basis);
    return 0;
  }
  if (arguments->has("gflops")) throw UserError("--gflops: stands with --dry-run");
  if (arguments->has("json"))
    throw UserError("--json: stands with --dry-run; results are in DIR/results.json");
  if (!folder) throw UserError("--out: expected the sweep's folder, such as --out results/mini");
  return run_and_report(sweep, selected, runner);
}

}  // namespace transformer
