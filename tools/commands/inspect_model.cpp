#include "tools/commands/inspect_model.h"

#include <torch/torch.h>

#include "transformer/data/tokenizer.h"
#include "transformer/error.h"
#include "transformer/nn/init.h"
#include "transformer/random.h"

namespace transformer {

namespace {

std::vector<std::vector<int32_t>> drawn(int64_t sentences, int64_t length, int64_t V,
                                        Random& random) {
  constexpr int32_t kFirst = kEos + 1;  // behind the special pieces
  std::vector<std::vector<int32_t>> rows(static_cast<size_t>(sentences));
  for (auto& row : rows) {
    for (int64_t i = 0; i + 1 < length; ++i) {
      row.push_back(kFirst + static_cast<int32_t>(random.below(static_cast<uint64_t>(V - kFirst))));
    }
    row.push_back(kEos);
  }
  return rows;
}

}  // namespace

Transformer initialised_model(const Config& config) {
  if (!config.model.V.stated()) {
    throw UserError("model.V: expected the number of word-pieces, to make a model; got null");
  }
  Transformer model(config.model);
  initialise(*model, config.training.seed);
  return model;
}

BatchTensors drawn_batch(const Config& config, int64_t sentences, int64_t length) {
  Random random(stream_seed(config.training.seed, "inspect"));
  const auto source = drawn(sentences, length, config.model.source_V, random);
  const auto output = drawn(sentences, length, config.model.V, random);
  auto input = output;
  for (auto& row : input) {
    row.insert(row.begin(), kBos);
    row.pop_back();
  }
  return {padded(source, torch::kCPU), padded(input, torch::kCPU), padded(output, torch::kCPU)};
}

}  // namespace transformer
