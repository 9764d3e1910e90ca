#include <algorithm>
#include <iomanip>
#include <iostream>

#include "tools/commands/arguments.h"
#include "tools/commands/commands.h"
#include "tools/status_line.h"
#include "transformer/analysis/parameters.h"
#include "transformer/config.h"

namespace transformer {

namespace {

void print_line(const std::string& block, int64_t count, int64_t total) {
  std::cout << std::left << std::setw(26) << block << std::right << std::setw(14) << grouped(count)
            << std::setw(8) << std::fixed << std::setprecision(1)
            << 100.0 * static_cast<double>(count) / static_cast<double>(total) << " %\n";
}

void inspect_parameters(const Config& config, bool as_json) {
  const ParameterCount count = count_parameters(config.model);
  if (as_json) {
    Json json = to_json(count);
    json["total"] = count.total();
    std::cout << json.dump(2) << "\n";
    return;
  }
  ParameterCount::visit(count, [&](std::string block, int64_t value) {
    if (value == 0) return;
    std::replace(block.begin(), block.end(), '_', ' ');
    if (block == "embedding" && config.model.tie_embeddings) block += " (and output)";
    print_line(block, value, count.total());
  });
  print_line("total", count.total(), count.total());
}

}  // namespace

int inspect_command(int argc, char** argv) {
  cxxopts::Options options("transformer inspect");
  options.add_options()("json", "figures as JSON");
  const auto arguments =
      parse(options,
            {.name = "inspect",
             .summary = "Shows the paper's quantities from the real code. Topics:\n"
                        "  parameters   trained scalars by block, tied matrices once",
             .usage = "TOPIC CONFIG [key=value...]",
             .example = "transformer inspect parameters configs/base.json model.d_k=16",
             .fewest = 2,
             .most = 2,
             .with_overrides = true},
            argc, argv);
  if (!arguments) return 0;
  const std::string& topic = arguments->positional[0];
  if (topic != "parameters") {
    throw UserError(topic + ": unknown topic" + nearest_key(topic, {"parameters"}));
  }
  inspect_parameters(load_config(arguments->positional[1], arguments->overrides),
                     arguments->has("json"));
  return 0;
}

}  // namespace transformer
