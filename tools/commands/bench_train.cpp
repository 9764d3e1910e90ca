#include <torch/torch.h>

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <numeric>

#include "experiments/machine.h"
#include "tools/commands/arguments.h"
#include "tools/commands/bench_commands.h"
#include "tools/commands/bench_steps.h"
#include "tools/commands/bench_work.h"
#include "tools/commands/chrome_trace.h"
#include "tools/commands/model_options.h"
#include "tools/commands/product_times.h"
#include "transformer/analysis/flops.h"
#include "transformer/analysis/time_by_part.h"
#include "transformer/clock.h"
#include "transformer/data/task.h"
#include "transformer/error.h"
#include "transformer/json.h"
#include "transformer/resident_memory.h"
#include "transformer/train/precision.h"
#include "transformer/version.h"

namespace transformer {

namespace {

// Floating-point operations of a batch, as its model reads it, without its padding.
double real_flops(const ModelConfig& model, const Batch& batch) {
  double flops = 0;
  for (int64_t i = 0; i < batch.sentences; ++i) {
    const auto length = [&](const std::vector<int32_t>& ids, int64_t columns) {
      const auto first = ids.begin() + i * columns;
      return columns - std::count(first, first + columns, 0);
    };
    flops += training_flops(model, {1, length(batch.source, batch.source_length),
                                    length(batch.target_input, batch.target_length)});
  }
  return flops;
}

struct TrainingMeasures {
  std::vector<double> seconds;     // a step
  std::vector<double> step_flops;  // of its real tokens
  int64_t source_tokens = 0;
  int64_t target_tokens = 0;
  int64_t padded_tokens = 0;  // both sides, padding included
  std::map<std::string, double> parts;

  double total() const { return std::accumulate(seconds.begin(), seconds.end(), 0.0); }
};

TrainingMeasures measure(const Config& config, const std::vector<Batch>& batches, int64_t warmup,
                         int64_t steps, const torch::Device& device, bool by_part,
                         const std::string& trace_file) {
  BenchSteps training(config, device);
  TrainingMeasures measured;
  std::optional<TimeByPart> clock;
  std::optional<ChromeTrace> trace;
  for (int64_t step = 1; step <= warmup + steps; ++step) {
    if (step == warmup + 1 && by_part) clock.emplace();
    if (step == warmup + 1 && !trace_file.empty()) trace.emplace(trace_file, device.is_cuda());
    const auto& batch = batches[static_cast<size_t>(step - 1) % batches.size()];
    const auto start = Clock::now();
    training.step(batch);
    if (step <= warmup) continue;
    measured.seconds.push_back(seconds_since(start));
    const Batch read = for_task(config.model, batch);
    measured.source_tokens += read.source_tokens;
    measured.target_tokens += read.target_tokens;
    measured.padded_tokens += read.sentences * (read.source_length + read.target_length);
    measured.step_flops.push_back(real_flops(config.model, read));
  }
  if (clock) measured.parts = clock->seconds();
  return measured;
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

Json report(const Config& config, const TrainingMeasures& m, const torch::Device& device) {
  const auto steps = std::ssize(m.seconds);
  const auto products =
      training_products(config.model, m.source_tokens / steps, m.target_tokens / steps);
  const ProductPrecision precision(config.training.precision, device);
  const auto times = product_times(products, device, torch::kFloat32, 3);
  double product_seconds = 0;
  double product_flops = 0;
  for (size_t i = 0; i < products.size(); ++i) {
    product_seconds += times[i] * static_cast<double>(products[i].count);
    product_flops += products[i].flops();
  }
  const double rate = product_flops / product_seconds;
  std::vector<double> rates;  // each step's, since batches differ
  for (size_t i = 0; i < m.seconds.size(); ++i) rates.push_back(m.step_flops[i] / m.seconds[i]);
  const double total = m.total();
  Json parts = Json::object();
  double by_parts = 0;
  for (const auto& [part, seconds] : m.parts) by_parts += seconds;
  for (const auto& [part, seconds] : m.parts) parts[part] = seconds / by_parts;
  return {{"threads", torch::get_num_threads()},
          {"device", device.str()},
          {"precision", name_of(config.training.precision)},
          {"steps", steps},
          {"seconds_minimum", std::ranges::min(m.seconds)},
          {"seconds_median", median(m.seconds)},
          {"seconds_total", total},
          {"source_tokens_per_second", static_cast<double>(m.source_tokens) / total},
          {"target_tokens_per_second", static_cast<double>(m.target_tokens) / total},
          {"real_tokens", static_cast<double>(m.source_tokens + m.target_tokens) /
                              static_cast<double>(m.padded_tokens)},
          {"flops", std::accumulate(m.step_flops.begin(), m.step_flops.end(), 0.0) /
                        static_cast<double>(steps)},
          {"product_flops_per_second", rate},
          {"utilisation_median", median(rates) / rate},
          {"utilisation_maximum", std::ranges::max(rates) / rate},
          {"peak_memory_bytes", peak_resident_bytes()},
          {"parts", parts},
          {"machine", to_json(this_machine())},
          {"version", kVersion},
          {"commit", kCommit}};
}

void print_training(const Json& r) {
  const auto number = [&](const char* key) { return r[key].get<double>(); };
  const long threads = r["threads"].get<long>();
  std::printf("%ld steps on %s, %ld thread%s\n", r["steps"].get<long>(),
              r["device"].get<std::string>().c_str(), threads, threads == 1 ? "" : "s");
  std::printf("a step             %.4f s at least, %.4f s median\n", number("seconds_minimum"),
              number("seconds_median"));
  std::printf("tokens/s           %.0f source, %.0f target\n", number("source_tokens_per_second"),
              number("target_tokens_per_second"));
  std::printf("real tokens        %.1f %% of a padded batch\n", 100 * number("real_tokens"));
  std::printf("FLOPs a step       %.3e\n", number("flops"));
  std::printf(
      "matrix products    %.1f GFLOP/s alone; a step reaches %.1f %% of that (median; "
      "best %.1f %%)\n",
      1e-9 * number("product_flops_per_second"), 100 * number("utilisation_median"),
      100 * number("utilisation_maximum"));
  std::printf("peak memory        %.0f MiB\n", number("peak_memory_bytes") / (1 << 20));
  for (const auto& [part, share] : r["parts"].items()) {
    std::printf("  %-16s %5.1f %%\n", part.c_str(), 100 * share.get<double>());
  }
}

}  // namespace

int bench_train_command(int argc, char** argv) {
  cxxopts::Options options("transformer bench train");
  options.add_options()("lengths",
                        "a line \"source target\" a sentence pair, end of sentence included",
                        cxxopts::value<std::string>())(
      "steps", "steps measured", cxxopts::value<std::string>()->default_value("10"))(
      "warmup", "steps before those", cxxopts::value<std::string>()->default_value("2"))(
      "profile", "write a Chrome trace of the measured steps, which slows them",
      cxxopts::value<std::string>(),
      "FILE")("parts", "measure where the time goes, at a small cost",
              cxxopts::value<bool>()->default_value("true"))("json", "figures as JSON");
  add_device_options(options);
  const auto arguments = parse(
      options,
      {.name = "bench train",
       .summary =
           "Times training steps on random word-pieces: tokens a second, where the time goes,\n"
           "and how much of what the machine's own matrix products allow is reached. Batches\n"
           "have data.tokens_per_batch on each side.",
       .usage = "CONFIG [key=value...]",
       .example = "transformer bench train configs/base.json model.V=37000 "
                  "data.tokens_per_batch=2000",
       .fewest = 1,
       .most = 1,
       .with_overrides = true},
      argc, argv);
  if (!arguments) return 0;
  Config config = load_config(arguments->positional[0], arguments->overrides);
  if (!config.model.V.stated()) throw UserError("bench: expected model.V=SIZE of the vocabulary");
  const auto device = device_of(*arguments);
  constexpr int64_t kMostSteps = 1'000'000;
  const int64_t steps = arguments->integer("steps", 1, kMostSteps);
  const int64_t warmup = arguments->integer("warmup", 0, kMostSteps);
  const auto lengths = arguments->has("lengths")
                           ? read_lengths(arguments->get<std::string>("lengths"))
                           : usual_lengths();
  const auto batches =
      batches_of(lengths, config.data.tokens_per_batch, config.model.source_V, config.model.V);
  const auto measured =
      measure(config, batches, warmup, steps, device,
              arguments->get<bool>("parts") && !arguments->has("profile"),
              arguments->has("profile") ? arguments->get<std::string>("profile") : "");
  const Json result = report(config, measured, device);
  if (arguments->has("json")) {
    std::cout << text_of(result, 2) << "\n";
  } else {
    print_training(result);
  }
  return 0;
}

}  // namespace transformer
