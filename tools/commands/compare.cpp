#include <filesystem>
#include <iostream>

#include "experiments/comparison_report.h"
#include "experiments/grid.h"
#include "experiments/sweep_folder.h"
#include "tools/commands/arguments.h"
#include "tools/commands/commands.h"
#include "transformer/error.h"

namespace transformer {
namespace fs = std::filesystem;

namespace {

ComparisonOptions comparison_options(const Arguments& arguments) {
  constexpr int64_t kMostSamples = 10'000'000;
  ComparisonOptions options{.keys = split_list(arguments.get<std::string>("by"), "--by")};
  if (arguments.has("baseline")) {
    options.baseline = split_list(arguments.get<std::string>("baseline"), "--baseline");
  }
  if (arguments.has("ppl")) options.reach = arguments.positive_number("ppl");
  if (arguments.has("diverged-above")) {
    options.diverged_above = arguments.positive_number("diverged-above");
  }
  auto& tests = options.tests;
  if (arguments.has("samples")) {
    tests.bootstrap_samples = arguments.integer("samples", 1, kMostSamples);
  }
  if (arguments.has("trials")) {
    tests.randomisation_trials = arguments.integer("trials", 1, kMostSamples);
  }
  if (arguments.has("test-seed")) {
    tests.seed = static_cast<uint64_t>(arguments.integer("test-seed", 0));
  }
  return options;
}

}  // namespace

int compare_command(int argc, char** argv) {
  cxxopts::Options options("transformer compare");
  options.add_options()("by", "the key whose values are compared, or several together: KEY,KEY",
                        cxxopts::value<std::string>(), "KEY,KEY...")(
      "baseline", "the value that others are compared with (the first row's)",
      cxxopts::value<std::string>(), "VALUE")(
      "ppl", "count the steps until data.valid has this perplexity", cxxopts::value<std::string>(),
      "P")("diverged-above", "a run that ends above this perplexity counts as diverged",
           cxxopts::value<std::string>(),
           "P")("samples", "of the paired bootstrap (1000)", cxxopts::value<std::string>(), "N")(
      "trials", "of approximate randomisation (10000)", cxxopts::value<std::string>(), "N")(
      "test-seed", "of both, as SACREBLEU_SEED (12345)", cxxopts::value<std::string>(), "SEED")(
      "format", "how it is written", cxxopts::value<std::string>()->default_value("text"),
      choices_of<ComparisonFormat>());
  const auto arguments =
      parse(options,
            {.name = "compare",
             .summary = "Compares the rows of a sweep by the values of a key, each with the rows "
                        "that are alike in every other\n"
                        "key, seed by seed: means, paired differences, tests of BLEU, runs that "
                        "diverged, learning curves.",
             .usage = "DIR --by KEY[,KEY...]",
             .example = "transformer compare runs/norm --by model.norm_placement --ppl 8",
             .fewest = 1,
             .most = 1},
            argc, argv);
  if (!arguments) return 0;
  if (!arguments->has("by")) {
    throw UserError("compare: expected --by KEY, such as --by model.norm_placement");
  }
  const auto how = comparison_options(*arguments);
  ComparisonFormat format{};
  fields::read(format, Json(arguments->get<std::string>("format")), "--format");
  const fs::path folder = arguments->positional[0];
  if (!fs::exists(folder / "results.json")) {
    throw UserError((folder / "results.json").string() +
                    ": expected the results of a sweep; there is no such file; make it with: " +
                    "transformer sweep SWEEP --out " + folder.string());
  }
  const Summary summary = summarize(read_sweep_results(folder));
  const Comparison comparison = compare(summary, details_in(folder), how);
  std::cout << format_comparison(summary, comparison, how, format);
  return 0;
}

}  // namespace transformer
