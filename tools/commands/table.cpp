#include "experiments/table.h"

#include <filesystem>
#include <iostream>

#include "experiments/grid.h"
#include "experiments/significance.h"
#include "experiments/sweep_folder.h"
#include "tools/commands/arguments.h"
#include "tools/commands/commands.h"
#include "transformer/error.h"

namespace transformer {
namespace fs = std::filesystem;

namespace {

// What stands over its columns: the folder's last name, or all of it where both have the same.
OtherSweep other_sweep(const fs::path& own, const fs::path& other) {
  const auto last = [](const fs::path& path) { return fs::absolute(path / ".").parent_path(); };
  const std::string own_name = last(own).filename(), name = last(other).filename();
  const bool are_told_apart = own_name != name;
  return {are_told_apart ? own_name : own.string(), are_told_apart ? name : other.string(),
          summarize(read_sweep_results(other))};
}

}  // namespace

int table_command(int argc, char** argv) {
  cxxopts::Options options("transformer table");
  options.add_options()("format", "how it is written",
                        cxxopts::value<std::string>()->default_value("text"),
                        choices_of<TableFormat>())(
      "columns",
      "instead of Table 3's: PPL, BLEU, params, time, tokens/s, FLOPs, memory, and config keys",
      cxxopts::value<std::string>(), "COLUMN,COLUMN...")(
      "sort", "the rows by one of these: the best first, or the smallest",
      cxxopts::value<std::string>(), "COLUMN")("reverse", "the other way round")(
      "compare", "another sweep's figures beside, row by row, instead of the paper's",
      cxxopts::value<std::string>(), "DIR");
  const auto arguments = parse(
      options,
      {.name = "table",
       .summary =
           "Prints a sweep's results beside the paper's figures, in the layout of its Table 3.",
       .usage = "DIR",
       .example = "transformer table runs/table3 --columns N,d_model,PPL,BLEU,time --sort PPL",
       .fewest = 1,
       .most = 1},
      argc, argv);
  if (!arguments) return 0;
  TableFormat format{};
  fields::read(format, Json(arguments->get<std::string>("format")), "--format");
  const fs::path folder = arguments->positional[0];
  Summary summary = summarize(read_sweep_results(folder));
  TableOptions shown{.p_values = p_values_to_base(summary, details_in(folder))};
  if (arguments->has("columns")) {
    shown.columns = split_list(arguments->get<std::string>("columns"), "--columns");
  }
  if (arguments->has("compare")) {
    const fs::path other = arguments->get<std::string>("compare");
    shown.other = other_sweep(folder, other);
    if (is_data(format)) {
      shown.other->p_values = p_values_to_base(shown.other->summary, details_in(other));
    }
  }
  const bool reversed = arguments->has("reverse");
  if (reversed && !arguments->has("sort")) throw UserError("--reverse: needs --sort NAME");
  if (arguments->has("sort")) {
    shown.by_id = true;
    summary = sorted(std::move(summary), arguments->get<std::string>("sort"), reversed);
  }
  std::cout << format_table(summary, format, shown);
  return 0;
}

}  // namespace transformer
