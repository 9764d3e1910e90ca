#include "experiments/plan.h"

#include <algorithm>

#include "transformer/analysis/parameters.h"

namespace transformer {

BatchShape typical_batch(const Config& config) {
  constexpr int64_t kPieces = 32;
  return {.sentences = std::max<int64_t>(1, config.data.tokens_per_batch / kPieces),
          .source_length = kPieces,
          .target_length = kPieces};
}

double total_flops(const Config& config) {
  const auto steps = static_cast<double>(config.training.train_steps);
  const auto batches = static_cast<double>(config.training.accumulate);
  return steps * batches * training_flops(config.model, typical_batch(config));
}

RowPlan plan(const SweepRow& row, const Rate& flops_per_second) {
  RowPlan result{row.id, row.group, row.set, {}, {}, {}, {}, row.paper};
  const auto& model = row.config.model;
  if (!model.V.stated()) return result;
  result.parameters = count_parameters(model).total();
  result.flops = total_flops(row.config);
  result.memory_bytes = training_memory_bytes(model, typical_batch(row.config));
  if (const auto rate = flops_per_second(row.config)) result.seconds = *result.flops / *rate;
  return result;
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
