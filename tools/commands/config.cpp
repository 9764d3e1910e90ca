#include "transformer/config.h"

#include <iostream>

#include "tools/commands/arguments.h"
#include "tools/commands/commands.h"

namespace transformer {

int config_command(int argc, char** argv) {
  cxxopts::Options options("transformer config");
  const auto arguments = parse(
      options,
      {.name = "config",
       .summary =
           "Prints an experiment as resolved: its bases, its file and the overrides, checked.",
       .usage = "CONFIG [key=value...]",
       .example = "transformer config configs/base.json model.h=4 model.d_k=128 model.d_v=128",
       .fewest = 1,
       .most = 1,
       .with_overrides = true},
      argc, argv);
  if (!arguments) return 0;
  const Config config = load_config(arguments->positional[0], arguments->overrides);
  std::cout << to_json(config).dump(2) << "\n";
  return 0;
}

}  // namespace transformer
