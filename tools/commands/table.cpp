#include "experiments/table.h"

#include <iostream>

#include "experiments/summary.h"
#include "experiments/sweep_folder.h"
#include "tools/commands/arguments.h"
#include "tools/commands/commands.h"

namespace transformer {

int table_command(int argc, char** argv) {
  cxxopts::Options options("transformer table");
  options.add_options()("format", "text, markdown, latex, csv, json or html",
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
  std::cout << format_table(summarize(read_sweep_results(arguments->positional[0])), format);
  return 0;
}

}  // namespace transformer
