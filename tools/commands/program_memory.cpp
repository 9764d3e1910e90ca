#include "tools/commands/program_memory.h"

#include "tools/commands/bench_steps.h"
#include "tools/commands/bench_work.h"
#include "transformer/data/tokenizer.h"
#include "transformer/decode/beam_search.h"
#include "transformer/resident_memory.h"

namespace transformer {

namespace {

double measured_memory() {
  Config config;
  config.model.N = 1;
  config.model.d_model = 32;
  config.model.d_ff = 64;
  config.model.h = 2;
  config.model.V = 100;
  config = resolve(config);
  const int64_t V = config.model.V;
  constexpr int64_t kTokens = 64;
  BenchSteps training(config, torch::kCPU);
  training.step(batches_of({{8, 8}, {8, 8}, {8, 8}}, kTokens, V, V).front());
  beam_search(training.model(), {{kEos}}, config.decoding, torch::kCPU);
  return static_cast<double>(memory_status("VmRSS").value_or(0));
}

}  // namespace

double program_memory() {
  static const double bytes = measured_memory();
  return bytes;
}

}  // namespace transformer
