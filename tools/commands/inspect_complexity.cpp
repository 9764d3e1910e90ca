#include <iostream>

#include "tools/commands/inspect_arguments.h"
#include "tools/commands/inspect_commands.h"
#include "tools/text_table.h"
#include "transformer/analysis/layer_complexity.h"
#include "transformer/error.h"

namespace transformer {

namespace {

LayerSizes sizes_of(const std::vector<std::string>& overrides) {
  LayerSizes sizes;
  for (const auto& text : overrides) {
    const size_t equals = text.find('=');
    set_field(sizes, text.substr(0, equals), override_value(text.substr(equals + 1)));
  }
  LayerSizes::visit(sizes, [](const std::string& name, int64_t size) {
    const int64_t least = name == "k" ? 2 : 1;  // a kernel of 1 joins no two positions
    constexpr int64_t kMost = 1'000'000'000;
    if (size < least || size > kMost) {
      throw UserError(name + ": " + std::to_string(size) + " is not in " + std::to_string(least) +
                      ".." + std::to_string(kMost));
    }
  });
  return sizes;
}

}  // namespace

int inspect_complexity_command(int argc, char** argv) {
  cxxopts::Options options("transformer inspect complexity");
  options.add_options()("json", "figures as JSON");
  const auto arguments = parse(
      options,
      {.name = "inspect complexity",
       .summary = "Table 1: a layer's operations, the least of them that must follow one another, "
                  "and the longest path\nbetween two positions, constants left out; n is the "
                  "length, d the width, k a kernel, r a neighbourhood.",
       .usage = "[n=70] [d=512] [k=3] [r=16]",
       .example = "transformer inspect complexity n=70 d=512",
       .most = 0,
       .with_overrides = true},
      argc, argv);
  if (!arguments) return 0;
  const LayerSizes sizes = sizes_of(arguments->overrides);
  const double self_attention = layer_complexity(LayerType::self_attention, sizes).operations;
  Json list = Json::array();
  std::vector<std::vector<std::string>> lines = {
      {"layer type", "operations", "to self-attention", "sequential", "path", "alike at n ="}};
  constexpr auto kNames = names(LayerType{});
  for (size_t i = 0; i < kNames.size(); ++i) {
    const auto complexity = layer_complexity(static_cast<LayerType>(i), sizes);
    Json json{{"type", kNames[i]}};
    json.update(to_json(complexity));
    json["to_self_attention"] = complexity.operations / self_attention;
    list.push_back(json);
    lines.push_back({kNames[i], formatted("%.3e", complexity.operations),
                     formatted("%.2f", complexity.operations / self_attention),
                     formatted("%.0f", complexity.sequential), formatted("%.2f", complexity.path),
                     complexity.crossing ? formatted("%.0f", *complexity.crossing) : ""});
  }
  if (arguments->has("json")) {
    print_json({{"sizes", to_json(sizes)}, {"layers", list}});
    return 0;
  }
  std::cout << "n = " << sizes.n << ", d = " << sizes.d << ", k = " << sizes.k
            << ", r = " << sizes.r << "\n\n";
  print_cells(std::cout, lines, 1);
  std::cout << "\nSelf-attention is the cheaper one below the n in the last column.\n";
  return 0;
}

}  // namespace transformer
