#include <iostream>
#include <map>

#include "tools/commands/inspect_arguments.h"
#include "tools/commands/inspect_commands.h"
#include "tools/commands/inspect_model.h"
#include "tools/status_line.h"
#include "tools/text_table.h"
#include "transformer/analysis/tensor_shapes.h"

namespace transformer {

namespace {

std::string shown(const std::vector<int64_t>& shape) {
  std::string text;
  for (const int64_t size : shape) text += (text.empty() ? "[" : ", ") + std::to_string(size);
  return text + "]";
}

// "encoder.layers.0." of a place in a layer; else nothing.
std::string layer_of(const std::string& place) {
  constexpr std::string_view kLayers = ".layers.";
  const size_t layers = place.find(kLayers);
  if (layers == std::string::npos) return "";
  return place.substr(0, place.find('.', layers + kLayers.size()) + 1);
}

void print_shapes(const std::vector<ShapedTensor>& shapes) {
  std::vector<std::vector<std::string>> lines = {{"place", "tensor", "shape", "parameters"}};
  int64_t total = 0;
  std::map<std::string, int64_t> others;  // of the layers that are left out, by stack
  for (const auto& each : shapes) {
    total += each.parameters;
    const std::string layer = layer_of(each.place);
    if (!layer.empty() && !layer.ends_with(".0.")) {
      others[layer.substr(0, layer.find('.'))] += each.parameters;
      continue;
    }
    if (layer.empty() && !others.empty()) {
      for (const auto& [stack, parameters] : others) {
        lines.push_back({stack, "the other layers, alike", "", grouped(parameters)});
      }
      others.clear();
    }
    lines.push_back({each.place, each.tensor, shown(each.shape),
                     each.parameters > 0 ? grouped(each.parameters) : ""});
  }
  lines.push_back({"total", "", "", grouped(total)});
  print_cells(std::cout, lines, 3);
}

}  // namespace

int inspect_shapes_command(int argc, char** argv) {
  constexpr int64_t kMost = 4096;
  cxxopts::Options options("transformer inspect shapes");
  options.add_options()("sentences", "of the batch",
                        cxxopts::value<std::string>()->default_value("2"))(
      "length", "of its sentences", cxxopts::value<std::string>()->default_value("7"))(
      "json", "every layer as JSON");
  const auto arguments = parse(
      options,
      {.name = "inspect shapes",
       .summary = "Runs the model on a batch of drawn word-pieces and shows each tensor on its way "
                  "(figure 1) with the\nparameters of the module that made it.",
       .usage = "CONFIG [key=value...]",
       .example = "transformer inspect shapes configs/base.json model.kv_heads=2",
       .fewest = 1,
       .most = 1,
       .with_overrides = true},
      argc, argv);
  if (!arguments) return 0;
  const Config config = one_config(*arguments);
  auto model = initialised_model(config);
  const auto batch = drawn_batch(config, arguments->integer("sentences", 1, kMost),
                                 arguments->integer("length", 1, kMost));
  const auto shapes = tensor_shapes(model, batch.source, batch.target_input);
  if (!arguments->has("json")) {
    print_shapes(shapes);
    return 0;
  }
  Json list = Json::array();
  int64_t total = 0;
  for (const auto& each : shapes) {
    total += each.parameters;
    list.push_back({{"place", each.place},
                    {"tensor", each.tensor},
                    {"shape", each.shape},
                    {"parameters", each.parameters}});
  }
  print_json({{"tensors", list}, {"parameters", total}});
  return 0;
}

}  // namespace transformer
