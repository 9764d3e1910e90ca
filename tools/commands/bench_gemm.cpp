#include <cstdio>
#include <iostream>

#include "tools/commands/arguments.h"
#include "tools/commands/bench_commands.h"
#include "tools/commands/model_options.h"
#include "tools/commands/product_times.h"
#include "transformer/error.h"
#include "transformer/json.h"
#include "transformer/train/precision.h"

namespace transformer {

namespace {

const char* name_of(Product::Layout layout) {
  switch (layout) {
    case Product::Layout::forward:
      return "forward";
    case Product::Layout::by_input:
      return "by input";
    case Product::Layout::by_weight:
      return "by weight";
  }
  return "";
}

}  // namespace

int bench_gemm_command(int argc, char** argv) {
  cxxopts::Options options("transformer bench gemm");
  options.add_options()("tokens", "tokens on each side",
                        cxxopts::value<std::string>()->default_value("2000"))(
      "repeats", "times of which the least counts",
      cxxopts::value<std::string>()->default_value("5"))("json", "figures as JSON");
  add_device_options(options);
  const auto arguments = parse(
      options,
      {.name = "bench gemm",
       .summary = "Times each matrix product of a training step: the least that a step costs.",
       .usage = "CONFIG [key=value...]",
       .example = "transformer bench gemm configs/base.json model.V=37000",
       .fewest = 1,
       .most = 1,
       .with_overrides = true},
      argc, argv);
  if (!arguments) return 0;
  const Config config = load_config(arguments->positional[0], arguments->overrides);
  if (!config.model.V.stated()) throw UserError("bench: expected model.V=SIZE of the vocabulary");
  const auto device = device_of(*arguments);
  constexpr int64_t kMostTokens = 10'000'000;
  constexpr int64_t kMostRepeats = 1'000'000;
  const int64_t tokens = arguments->integer("tokens", 1, kMostTokens);
  const auto products = training_products(config.model, tokens, tokens);
  const ProductPrecision precision(config.training.precision, device);
  const auto times = product_times(products, device, torch::kFloat32,
                                   arguments->integer("repeats", 1, kMostRepeats));
  Json rows = Json::array();
  double seconds = 0;
  double flops = 0;
  for (size_t i = 0; i < products.size(); ++i) {
    const auto& product = products[i];
    const double once = product.flops() / static_cast<double>(product.count);
    seconds += times[i] * static_cast<double>(product.count);
    flops += product.flops();
    rows.push_back({{"layout", name_of(product.layout)},
                    {"rows", product.rows},
                    {"inner", product.inner},
                    {"columns", product.columns},
                    {"count", product.count},
                    {"seconds", times[i]},
                    {"flops_per_second", once / times[i]}});
  }
  if (arguments->has("json")) {
    const Json json = {{"products", rows},
                       {"seconds", seconds},
                       {"flops", flops},
                       {"flops_per_second", flops / seconds}};
    std::cout << text_of(json, 2) << "\n";
    return 0;
  }
  std::printf("%-10s %8s %8s %8s %6s %12s %10s\n", "layout", "rows", "inner", "columns", "count",
              "ms", "GFLOP/s");
  for (const auto& row : rows) {
    std::printf("%-10s %8ld %8ld %8ld %6ld %12.3f %10.1f\n",
                row["layout"].get<std::string>().c_str(), row["rows"].get<long>(),
                row["inner"].get<long>(), row["columns"].get<long>(), row["count"].get<long>(),
                1e3 * row["seconds"].get<double>(), 1e-9 * row["flops_per_second"].get<double>());
  }
  std::printf("\nA step of %ld and %ld tokens: %.3f s, %.1f GFLOP/s.\n", static_cast<long>(tokens),
              static_cast<long>(tokens), seconds, 1e-9 * flops / seconds);
  return 0;
}

}  // namespace transformer
