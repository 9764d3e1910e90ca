#include "experiments/plan.h"

#include <algorithm>
#include <filesystem>

#include "experiments/statistics.h"
#include "transformer/analysis/parameters.h"
#include "transformer/analysis/training_memory.h"

namespace transformer {

namespace {

double text_bytes(const DataConfig& data) {
  double bytes = 0;
  for (const auto& prefix : data.train) {
    for (const auto& language : {data.source_language, data.target_language}) {
      std::error_code missing;
      const auto size = std::filesystem::file_size(prefix + "." + language, missing);
      if (!missing) bytes += static_cast<double>(size);
    }
  }
  return bytes;
}

}  // namespace

BatchShape typical_batch(const Config& config) {
  const int64_t pieces = config.model.positions == PositionKind::learned
                             ? std::min<int64_t>(32, config.model.max_positions)
                             : 32;
  return {.sentences = std::max<int64_t>(1, config.data.tokens_per_batch / pieces),
          .source_length = pieces,
          .target_length = pieces};
}

double total_flops(const Config& config) {
  const auto steps = static_cast<double>(config.training.train_steps);
  const auto batches = static_cast<double>(config.training.accumulate);
  return steps * batches * training_flops(config.model, typical_batch(config));
}

double peak_memory(const Config& config, double program_bytes) {
  // Pieces of 4 bytes for about 4 bytes of text each, and for a pair of some 120 bytes two ends of
  // sentence and two offsets of 8 bytes.
  constexpr double kMapped = 1.2;
  constexpr double kPairText = 120;
  constexpr double kOrder = 36;  // a pair's rows in two plans, and what sorts them
  const double text = text_bytes(config.data);
  return program_bytes + run_memory(config, without_padding(typical_batch(config))) +
         text * (kMapped + kOrder / kPairText);
}

RowPlan plan(const SweepRow& row, const Rate& flops_per_second, double program_bytes) {
  RowPlan result{row.id, row.group, row.set, {}, {}, {}, {}, row.paper};
  const auto& model = row.config.model;
  if (!model.V.stated()) return result;
  result.parameters = count_parameters(model).total();
  result.flops = total_flops(row.config);
  result.memory_bytes = peak_memory(row.config, program_bytes);
  if (const auto rate = flops_per_second(row.config)) result.seconds = *result.flops / *rate;
  return result;
}

void add_measured(RowPlan& row, const Results& results) {
  std::vector<double> bytes, seconds;
  for (const auto& run : results.results) {
    if (run.id != row.id || !run.result) continue;
    bytes.push_back(static_cast<double>(run.result->peak_memory_bytes));
    seconds.push_back(run.result->seconds);
  }
  if (bytes.empty()) return;
  row.measured_memory_bytes = *std::ranges::max_element(bytes);
  row.measured_seconds = mean(seconds);
}

int64_t default_jobs(const Machine& machine, double run_bytes, int64_t runs) {
  int64_t jobs = machine.cores >= 32 ? 8 : machine.cores >= 8 ? 4 : machine.cores >= 2 ? 2 : 1;
  if (run_bytes > 0) {
    const double fit = 0.8 * static_cast<double>(machine.memory_bytes) / run_bytes;
    if (fit < static_cast<double>(jobs)) jobs = static_cast<int64_t>(fit);
  }
  return std::max<int64_t>(1, std::min(jobs, runs));
}

}  // namespace transformer
