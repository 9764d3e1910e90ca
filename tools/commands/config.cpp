#include "transformer/config.h"

#include <iostream>

#include "tools/commands/arguments.h"
#include "tools/commands/commands.h"
#include "tools/text_table.h"
#include "transformer/error.h"

namespace transformer {

namespace {

// The keys in which two experiments differ, as resolved.
void print_difference(const Arguments& arguments) {
  const auto& files = arguments.positional;
  const Config left = load_config(files[0]);
  const Config right = load_config(files[1], arguments.overrides);
  const auto different = differences(left, right);
  if (arguments.has("json")) {
    Json json = Json::array();
    for (const auto& each : different) {
      json.push_back({{"key", each.key}, {"there", each.there}, {"now", each.now}});
    }
    std::cout << text_of(json, 2) << "\n";
    return;
  }
  if (different.empty()) {
    std::cerr << "no key differs\n";
    return;
  }
  std::vector<std::vector<std::string>> lines = {{"", files[0], files[1]}};
  for (const auto& each : different) {
    lines.push_back({each.key, fields::shown(each.there), fields::shown(each.now)});
  }
  print_cells(std::cout, lines, 3);
}

}  // namespace

int config_command(int argc, char** argv) {
  cxxopts::Options options("transformer config");
  options.add_options()("diff", "print the keys in which two experiments differ")(
      "json", "the differences as JSON; an experiment is JSON anyway");
  const auto arguments = parse(
      options,
      {.name = "config",
       .summary =
           "Prints an experiment as resolved: its bases, its file and the overrides, checked. With "
           "--diff the keys in\nwhich two differ, the overrides being the second's.",
       .usage = "CONFIG [key=value...] | --diff A B [key=value...]",
       .example = "transformer config configs/base.json model.h=4 model.d_k=128 model.d_v=128\n"
                  "  transformer config --diff configs/presets/paper-2017.json "
                  "configs/presets/t2t-v2.json",
       .fewest = 1,
       .most = 2,
       .with_overrides = true},
      argc, argv);
  if (!arguments) return 0;
  const bool is_pair = arguments->positional.size() == 2;
  if (is_pair != arguments->has("diff")) {
    throw UserError(is_pair ? "config: what to do with two configs? --diff shows where they differ"
                            : "--diff: expected two configs; got one");
  }
  if (is_pair) {
    print_difference(*arguments);
    return 0;
  }
  const Config config = load_config(arguments->positional[0], arguments->overrides);
  std::cout << text_of(to_json(config), 2) << "\n";
  return 0;
}

}  // namespace transformer
