#include <iostream>

#include "tools/commands/inspect_arguments.h"
#include "tools/commands/inspect_topics.h"
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

struct NamedComplexity {
  std::string type;
  LayerComplexity complexity;
  double to_self_attention;  // its operations to self-attention's
};

std::vector<NamedComplexity> complexities_of(const LayerSizes& sizes) {
  const double self_attention = layer_complexity(LayerType::self_attention, sizes).operations;
  constexpr auto kNames = names(LayerType{});
  std::vector<NamedComplexity> all;
  for (size_t i = 0; i < kNames.size(); ++i) {
    const auto complexity = layer_complexity(static_cast<LayerType>(i), sizes);
    all.push_back({kNames[i], complexity, complexity.operations / self_attention});
  }
  return all;
}

Json complexity_figures(const Arguments& arguments, const std::vector<SweepRow>&) {
  const LayerSizes sizes = sizes_of(arguments.overrides);
  Json list = Json::array();
  for (const auto& [type, complexity, to_self_attention] : complexities_of(sizes)) {
    Json json{{"type", type}};
    json.update(to_json(complexity));
    json["to_self_attention"] = to_self_attention;
    list.push_back(json);
  }
  return {{"sizes", to_json(sizes)}, {"layers", list}};
}

void print_complexity(const Arguments& arguments, const std::vector<SweepRow>&) {
  const LayerSizes sizes = sizes_of(arguments.overrides);
  std::vector<std::vector<std::string>> lines = {
      {"layer type", "operations", "to self-attention", "sequential", "path", "alike at n ="}};
  for (const auto& [type, complexity, to_self_attention] : complexities_of(sizes)) {
    lines.push_back({type, formatted("%.3e", complexity.operations),
                     formatted("%.2f", to_self_attention), formatted("%.0f", complexity.sequential),
                     formatted("%.2f", complexity.path),
                     complexity.crossing ? formatted("%.0f", *complexity.crossing) : ""});
  }
  std::cout << "n = " << sizes.n << ", d = " << sizes.d << ", k = " << sizes.k
            << ", r = " << sizes.r << "\n\n";
  print_cells(std::cout, lines, 1);
  std::cout << "\nSelf-attention is the cheaper one below the n in the last column.\n";
}

}  // namespace

const InspectTopic& complexity_topic() {
  static const InspectTopic topic = {
      .line = {.name = "inspect complexity",
               .summary = "Table 1: a layer's operations, the least of them that must follow one "
                          "another, and the longest path\nbetween two positions, constants left "
                          "out; n is the length, d the width, k a kernel, r a neighbourhood.",
               .usage = "[n=70] [d=512] [k=3] [r=16]",
               .example = "transformer inspect complexity n=70 d=512",
               .most = 0,
               .with_overrides = true},
      .figures = complexity_figures,
      .print = print_complexity};
  return topic;
}

}  // namespace transformer
