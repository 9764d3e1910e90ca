#include "tools/commands/step_rate.h"

#include <algorithm>
#include <limits>

#include "experiments/plan.h"
#include "tools/commands/bench_steps.h"
#include "tools/commands/bench_work.h"
#include "transformer/clock.h"

namespace transformer {

std::optional<double> step_rate(const Config& config) {
  constexpr double kLongest = 2e11;
  constexpr int kTimes = 2;
  const auto shape = typical_batch(config);
  const double flops = training_flops(config.model, shape);
  constexpr int64_t kFewestPieces = 16;  // some that are no special ones
  const bool is_drawn = std::min<int64_t>(config.model.source_V, config.model.V) >= kFewestPieces;
  if (flops > kLongest || !is_drawn) return std::nullopt;
  const int64_t tokens = shape.sentences * std::max(shape.source_length, shape.target_length);
  const std::vector<PairLengths> pairs(static_cast<size_t>(shape.sentences),
                                       {shape.source_length, shape.target_length});
  const Batch batch = batches_of(pairs, tokens, config.model.source_V, config.model.V).front();
  BenchSteps training(config, torch::kCPU);
  training.step(batch);
  double fastest = std::numeric_limits<double>::max();
  for (int i = 0; i < kTimes; ++i) {
    const auto start = Clock::now();
    training.step(batch);
    fastest = std::min(fastest, seconds_since(start));
  }
  return flops / fastest;
}

}  // namespace transformer
