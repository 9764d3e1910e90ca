#include "experiments/table.h"

#include <filesystem>
#include <iostream>

#include "experiments/summary.h"
#include "experiments/sweep_folder.h"
#include "tools/commands/arguments.h"
#include "tools/commands/commands.h"
#include "transformer/error.h"

namespace transformer {

int table_command(int argc, char** argv) {
  cxxopts::Options options("transformer table");
  options.add_options()("format", "text, markdown, latex, csv or json",
                        cxxopts::value<std::string>()->default_value("text"), "FORMAT");
  const auto arguments = parse(
      options,
      {.name = "table",
       .summary =
           "Prints a sweep's results beside the paper's figures, in the layout of its Table 3.",
       .usage = "DIR",
       .example = "transformer table runs/table3 --format markdown",
       .fewest = 1,
       .most = 1},
      argc, argv);
  if (!arguments) return 0;
  TableFormat format{};
  fields::read(format, Json(arguments->get<std::string>("format")), "--format");
  const auto path = std::filesystem::path(arguments->positional[0]) / "results.json";
  if (!std::filesystem::exists(path)) {
    throw UserError(path.string() + ": expected the results of a sweep; there is no such file; " +
                    "make it with: transformer sweep SWEEP --out " + arguments->positional[0]);
  }
  std::cout << format_table(summarize(read_sweep_results(path.parent_path())), format);
  return 0;
}

}  // namespace transformer
