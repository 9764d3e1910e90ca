#include "tools/commands/inspect_arguments.h"

#include <charconv>
#include <iostream>

#include "experiments/grid.h"
#include "tools/commands/sweep_plan.h"
#include "transformer/error.h"

namespace transformer {

std::vector<SweepRow> rows_of(const Arguments& arguments) {
  return with_vocabulary_size(load_sweep(arguments.positional[0], arguments.overrides)).rows;
}

Config one_config(const Arguments& arguments, const std::vector<SweepRow>& rows) {
  if (rows.size() > 1) {
    throw UserError((arguments.positional.empty() ? "the config" : arguments.positional[0]) +
                    ": expected one experiment; got " + std::to_string(rows.size()) + " rows");
  }
  return rows[0].config;
}

std::vector<int64_t> integers_of(const Arguments& arguments, const std::string& option,
                                 int64_t least, int64_t most) {
  const auto text = arguments.get<std::string>(option);
  std::vector<int64_t> values;
  for (const auto& piece : split_list(text, "--" + option)) {
    int64_t value = 0;
    const char* end = piece.data() + piece.size();
    const auto [read, error] = std::from_chars(piece.data(), end, value);
    if (error != std::errc() || read != end || value < least || value > most) {
      throw UserError("--" + option + ": expected integers in " + std::to_string(least) + ".." +
                      std::to_string(most) + ", commas between; got " + fields::shown_name(text));
    }
    values.push_back(value);
  }
  return values;
}

void print_json(const Json& json) { std::cout << text_of(json, 2) << "\n"; }

}  // namespace transformer
