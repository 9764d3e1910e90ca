#include <iostream>
#include <map>

#include "tools/commands/inspect_arguments.h"
#include "tools/commands/inspect_model.h"
#include "tools/commands/inspect_topics.h"
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

void add_shapes_options(cxxopts::Options& options) {
  options.add_options()("sentences", "of the batch",
                        cxxopts::value<std::string>()->default_value("2"))(
      "length", "of its sentences", cxxopts::value<std::string>()->default_value("7"));
}

std::vector<ShapedTensor> shapes_of(const Arguments& arguments, const std::vector<SweepRow>& rows) {
  constexpr int64_t kMost = 4096;
  const Config config = one_config(arguments, rows);
  auto model = initialised_model(config);
  const auto batch = drawn_batch(config, arguments.integer("sentences", 1, kMost),
                                 arguments.integer("length", 1, kMost));
  return tensor_shapes(model, batch.source, batch.target_input);
}

Json shapes_figures(const Arguments& arguments, const std::vector<SweepRow>& rows) {
  Json list = Json::array();
  int64_t total = 0;
  for (const auto& each : shapes_of(arguments, rows)) {
    total += each.parameters;
    list.push_back({{"place", each.place},
                    {"tensor", each.tensor},
                    {"shape", each.shape},
                    {"parameters", each.parameters}});
  }
  return {{"tensors", list}, {"parameters", total}};
}

void print_shapes(const Arguments& arguments, const std::vector<SweepRow>& rows) {
  print_shapes(shapes_of(arguments, rows));
}

}  // namespace

const InspectTopic& shapes_topic() {
  static const InspectTopic topic = {
      .line = {.name = "inspect shapes",
               .summary = "Runs the model on a batch of drawn word-pieces and shows each tensor on "
                          "its way (figure 1) with the\nparameters of the module that made it. "
                          "--json gives every layer.",
               .usage = "CONFIG [key=value...]",
               .example = "transformer inspect shapes configs/base.json model.kv_heads=2",
               .fewest = 1,
               .most = 1,
               .with_overrides = true},
      .add_options = add_shapes_options,
      .figures = shapes_figures,
      .print = print_shapes};
  return topic;
}

}  // namespace transformer
