#include <iostream>

#include "tools/commands/inspect_arguments.h"
#include "tools/commands/inspect_topics.h"
#include "tools/text_table.h"
#include "transformer/analysis/scaling.h"
#include "transformer/error.h"

namespace transformer {

namespace {

struct ScalingOptions {
  Cluster cluster;
  std::vector<int64_t> devices;
  bool is_per_device = false;  // data.tokens_per_batch, else all devices share it
};

ScalingOptions scaling_options(const Arguments& arguments) {
  constexpr int64_t kMostDevices = 1 << 20;
  return {.cluster = {.flops_per_second = 1e12 * arguments.positive_number("tflops"),
                      .bandwidth = 1e9 * arguments.positive_number("gigabytes"),
                      .latency = 1e-6 * arguments.positive_number("microseconds")},
          .devices = integers_of(arguments, "devices", 1, kMostDevices),
          .is_per_device = arguments.has("per-device")};
}

Json scaling_figures(const Arguments& arguments, const std::vector<SweepRow>& sweep_rows) {
  for (const char* needed : {"tflops", "gigabytes"}) {
    if (!arguments.has(needed)) {
      throw UserError(std::string("inspect scaling: expected --") + needed +
                      ": it is measured or assumed, not known");
    }
  }
  const Config config = one_config(arguments, sweep_rows);
  if (!config.model.V.stated()) {
    throw UserError("model.V: expected the number of word-pieces; got null");
  }
  const auto options = scaling_options(arguments);
  Json rows = Json::array();
  const auto batch = static_cast<double>(config.data.tokens_per_batch);
  for (const int64_t devices : options.devices) {
    const auto count = static_cast<double>(devices);
    const double tokens = options.is_per_device ? batch : batch / count;
    const auto step = scaled_step(config.model, tokens, devices, options.cluster);
    rows.push_back({{"devices", devices},
                    {"tokens_per_device", tokens},
                    {"sent_bytes", ring_bytes(step.gradient_bytes, devices)},
                    {"compute_seconds", step.compute_seconds},
                    {"reduce_seconds", step.reduce_seconds},
                    {"uncovered_seconds", step.uncovered_seconds},
                    {"seconds", step.seconds()},
                    {"target_tokens_per_second", tokens * count / step.seconds()},
                    {"efficiency", step.compute_seconds / step.seconds()}});
  }
  return {{"rows", rows}};
}

void print_scaling(const Arguments& arguments, const std::vector<SweepRow>& sweep_rows) {
  std::vector<std::vector<std::string>> lines = {{"devices", "tokens each", "MB sent each",
                                                  "compute ms", "all-reduce ms", "uncovered ms",
                                                  "step ms", "tokens/s", "efficiency"}};
  const Json figures = scaling_figures(arguments, sweep_rows);
  for (const auto& row : figures["rows"]) {
    const auto cell = [&](const char* pattern, const char* key, double scale) {
      return formatted(pattern, scale * row[key].get<double>());
    };
    lines.push_back({cell("%.0f", "devices", 1), cell("%.0f", "tokens_per_device", 1),
                     cell("%.0f", "sent_bytes", 1e-6), cell("%.1f", "compute_seconds", 1e3),
                     cell("%.1f", "reduce_seconds", 1e3), cell("%.1f", "uncovered_seconds", 1e3),
                     cell("%.1f", "seconds", 1e3), cell("%.0f", "target_tokens_per_second", 1),
                     cell("%.0f %%", "efficiency", 100)});
  }
  print_cells(std::cout, lines, 0);
}

void add_scaling_options(cxxopts::Options& options) {
  options.add_options()(
      "devices", "how many: 8,64,512",
      cxxopts::value<std::string>()->default_value("1,2,4,8,16,32,64,128,256,512"))(
      "tflops", "that a device sustains in training, TFLOP/s", cxxopts::value<std::string>())(
      "gigabytes", "of the slowest link between devices, GB/s", cxxopts::value<std::string>())(
      "microseconds", "that a short message takes",
      cxxopts::value<std::string>()->default_value("10"))(
      "per-device", "data.tokens_per_batch is each device's, not shared by all");
}

}  // namespace

const InspectTopic& scaling_topic() {
  static const InspectTopic topic = {
      .line = {.name = "inspect scaling",
               .summary =
                   "A step of data parallel training by a model: matrix products at a device's "
                   "rate; gradients summed\nby a ring all-reduce, under the backward pass but for "
                   "the embeddings' (docs/scaling.md).",
               .usage = "CONFIG [key=value...]",
               .example = "transformer inspect scaling configs/base.json model.V=37000 --tflops 50 "
                          "--gigabytes 25",
               .fewest = 1,
               .most = 1,
               .with_overrides = true},
      .add_options = add_scaling_options,
      .figures = scaling_figures,
      .print = print_scaling};
  return topic;
}

}  // namespace transformer
