#include "experiments/sweep.h"

#include <charconv>
#include <iomanip>
#include <iostream>
#include <map>
#include <set>
#include <tuple>

#include "experiments/grid.h"
#include "experiments/machine.h"
#include "experiments/plan.h"
#include "experiments/runner.h"
#include "tools/commands/amounts.h"
#include "tools/commands/arguments.h"
#include "tools/commands/commands.h"
#include "tools/commands/matrix_rate.h"
#include "tools/commands/sweep_progress.h"
#include "transformer/data/tokenizer.h"
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

// A vocabulary that is there already has a size, whether the config states it or not.
std::optional<int64_t> pieces(const std::string& vocabulary) {
  if (vocabulary.empty() || !fs::exists(vocabulary)) return std::nullopt;
  static std::map<std::string, int64_t> known;
  const auto found = known.find(vocabulary);
  return found != known.end() ? found->second : known[vocabulary] = Tokenizer(vocabulary).size();
}

// The rows with V stated wherever it can be known; only for figures, never for a run.
Sweep with_vocabulary_size(Sweep sweep) {
  for (auto& row : sweep.rows) {
    auto& model = row.config.model;
    const auto& data = row.config.data;
    if (model.V.stated()) continue;
    const auto V = pieces(data.vocabulary);
    const auto source_V = data.source_vocabulary.empty() ? V : pieces(data.source_vocabulary);
    if (!V || !source_V) continue;
    model.V = *V;
    model.source_V = *source_V;
  }
  return sweep;
}

double work(const Config& config) {
  return config.model.V.stated() ? total_flops(config)
                                 : static_cast<double>(config.training.train_steps);
}

std::optional<double> measured_rate(const Config& config) {
  constexpr int64_t kMostRows = 2048;  // more would measure the same, for longer
  const std::tuple key{std::min(config.data.tokens_per_batch, kMostRows), config.model.d_model,
                       config.model.d_ff};
  static std::map<decltype(key), double> known;
  const auto found = known.find(key);
  if (found != known.end()) return found->second;
  return known[key] = std::apply(matrix_rate, key) * static_cast<double>(this_machine().cores);
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

std::string sets(const Json& set) {
  std::string text;
  for (const auto& [key, value] : set.items()) {
    text += (text.empty() ? "" : " ") + key.substr(key.find('.') + 1) + "=" +
            (value.is_string() ? value.get<std::string>() : fields::shown(value));
  }
  return text;
}

void print_cells(const std::vector<std::vector<std::string>>& lines, size_t left_aligned) {
  std::vector<size_t> widths(lines[0].size());
  for (const auto& cells : lines) {
    for (size_t i = 0; i < cells.size(); ++i) widths[i] = std::max(widths[i], cells[i].size());
  }
  for (const auto& cells : lines) {
    std::string line;
    for (size_t i = 0; i < cells.size(); ++i) {
      const std::string space(widths[i] - cells[i].size(), ' ');
      line += (i == 0 ? "" : "  ") + (i < left_aligned ? cells[i] + space : space + cells[i]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    std::cout << line << "\n";
  }
}

void print_plan(const std::vector<RowPlan>& rows, size_t seeds) {
  std::vector<std::vector<std::string>> lines = {
      {"row", "sets", "parameters", "FLOPs", "memory", "time"}};
  std::optional<double> seconds = 0, flops = 0;
  for (const auto& row : rows) {
    const auto cell = [](const auto& value, auto&& shown) {
      return value ? shown(*value) : std::string("?");
    };
    lines.push_back({row.id, sets(row.set), cell(row.parameters, with_commas),
                     cell(row.flops, in_powers_of_ten), cell(row.memory_bytes, byte_count),
                     cell(row.seconds, duration)});
    seconds = seconds && row.seconds ? std::optional(*seconds + *row.seconds) : std::nullopt;
    flops = flops && row.flops ? std::optional(*flops + *row.flops) : std::nullopt;
  }
  print_cells(lines, 2);
  const auto times = static_cast<double>(seeds);
  std::cout << "\n" << rows.size() << " rows, " << seeds << (seeds == 1 ? " seed" : " seeds");
  if (flops) std::cout << ", " << in_powers_of_ten(*flops * times) << " FLOPs";
  if (seconds) std::cout << ", at least " << duration(*seconds * times);
  std::cout
      << ".\nTime is that of the matrix products alone, all cores busy; memory is estimated for\n"
         "sentences of 32 word-pieces.\n";
}

void explain_unknown(const Sweep& sweep) {
  for (const auto& row : sweep.rows) {
    if (row.config.model.V.stated()) continue;
    const auto& data = row.config.data;
    std::cerr << "transformer: row " << row.id
              << ": parameters not known: model.V is not stated and "
              << (data.vocabulary.empty() ? "data.vocabulary is empty"
                                          : data.vocabulary + " is not there")
              << (data.make.empty() ? "" : "; make it with: " + data.make) << "\n";
    return;  // one is enough: it is the same for all
  }
}

int print_dry_run(const Sweep& sweep, const Arguments& arguments) {
  const Rate rate = rate_for(arguments);
  std::vector<RowPlan> rows;
  for (const auto& row : sweep.rows) rows.push_back(plan(row, rate));
  explain_unknown(sweep);
  if (arguments.has("json")) {
    Json all = Json::array();
    for (const auto& row : rows) all.push_back(to_json(row));
    std::cout << Json{{"rows", all}, {"seeds", sweep.seeds}}.dump(2) << "\n";
  } else {
    print_plan(rows, sweep.seeds.size());
  }
  return 0;
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
  std::cerr << selected.rows.size() << " rows, " << selected.seeds.size()
            << (selected.seeds.size() == 1 ? " seed, " : " seeds, ") << options.jobs
            << (options.jobs == 1 ? " run at a time, " : " runs at a time, ") << options.threads
            << (options.threads == 1 ? " thread each\n" : " threads each\n");
  SweepOutcome outcome;
  {
    SweepProgress progress(selected, options.folder, work);
    outcome = run_sweep(sweep, selected, options, std::ref(progress));
  }
  std::cerr << outcome.complete << " runs complete";
  if (outcome.failed > 0) std::cerr << ", " << outcome.failed << " failed";
  if (outcome.left > 0) std::cerr << ", " << outcome.left << " not done; the same command goes on";
  std::cerr << "\nresults: " << (options.folder / "results.json").string() << "\n";
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
  if (arguments->has("dry-run")) return print_dry_run(with_vocabulary_size(selected), *arguments);
  if (arguments->has("json"))
    throw UserError("--json: stands with --dry-run; results are in DIR/results.json");
  if (!arguments->has("out"))
    throw UserError("--out: expected the sweep's folder, such as --out results/mini");
  return run_and_report(sweep, selected, *arguments);
}

}  // namespace transformer
