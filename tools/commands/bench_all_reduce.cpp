#include <torch/torch.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <limits>

#include "tools/commands/arguments.h"
#include "tools/commands/bench_commands.h"
#include "tools/commands/model_options.h"
#include "tools/text_table.h"
#include "transformer/analysis/scaling.h"
#include "transformer/clock.h"
#include "transformer/error.h"
#include "transformer/json.h"
#include "transformer/train/data_parallel.h"

namespace transformer {

namespace {

// The least of some repeats, in which no rank starts before all are there.
double sum_seconds(Ranks& ranks, const torch::Device& device, int64_t bytes, int64_t repeats) {
  auto values = torch::zeros({bytes / 4}, torch::TensorOptions(torch::kFloat32).device(device));
  double least = std::numeric_limits<double>::max();
  for (int64_t i = 0; i <= repeats; ++i) {
    ranks.any(false);
    const auto start = Clock::now();
    ranks.sum(values);
    if (device.is_cuda()) torch::cuda::synchronize();
    if (i > 0) least = std::min(least, seconds_since(start));  // the first connects
  }
  return least;
}

}  // namespace

int bench_all_reduce_command(int argc, char** argv) {
  cxxopts::Options options("transformer bench all-reduce");
  options.add_options()("repeats", "times of which the least counts",
                        cxxopts::value<std::string>()->default_value("5"))("json",
                                                                           "figures as JSON");
  add_device_options(options);
  const auto arguments = parse(
      options,
      {.name = "bench all-reduce",
       .summary = "Times sums over all processes, as gradients are summed: float32, from 4 KiB to "
                  "256 MiB.\nStarted by torchrun --no-python or srun as training is.",
       .usage = "",
       .example = "torchrun --no-python --nproc-per-node 2 transformer bench all-reduce"},
      argc, argv);
  if (!arguments) return 0;
  const int64_t repeats = arguments->integer("repeats", 1, 1000);
  const auto place = rendezvous_of_environment();
  if (!place)
    throw UserError("bench all-reduce: expected several processes (WORLD_SIZE, RANK, ...)");
  const auto device = device_of(*arguments, place->local_rank);
  Ranks ranks(*place, device, std::chrono::minutes(1), {});
  Json rows = Json::array();
  for (int64_t bytes = 1 << 12; bytes <= 1 << 28; bytes *= 16) {
    const double seconds = sum_seconds(ranks, device, bytes, repeats);
    rows.push_back({{"bytes", bytes},
                    {"seconds", seconds},
                    {"bandwidth", ring_bytes(static_cast<double>(bytes), place->ranks) / seconds}});
  }
  ranks.leave();
  if (!ranks.is_first()) return 0;
  if (arguments->has("json")) {
    std::cout << text_of({{"ranks", place->ranks}, {"device", device.str()}, {"sums", rows}}, 2)
              << "\n";
    return 0;
  }
  std::vector<std::vector<std::string>> lines = {{"bytes", "ms", "GB/s sent by each"}};
  for (const auto& row : rows) {
    lines.push_back({std::to_string(row["bytes"].get<int64_t>()),
                     formatted("%.3f", 1e3 * row["seconds"].get<double>()),
                     formatted("%.3f", 1e-9 * row["bandwidth"].get<double>())});
  }
  print_cells(std::cout, lines, 0);
  return 0;
}

}  // namespace transformer
