#include "tools/commands/inspect_model.h"

#include <torch/torch.h>

#include "transformer/data/task.h"
#include "transformer/error.h"
#include "transformer/nn/init.h"
#include "transformer/random.h"

namespace transformer {

namespace {

// [sentences, length]
std::vector<int32_t> drawn(int64_t sentences, int64_t length, int64_t V, Random& random) {
  constexpr int32_t kFirst = kEos + 1;  // behind the special pieces
  std::vector<int32_t> ids;
  for (int64_t sentence = 0; sentence < sentences; ++sentence) {
    for (int64_t i = 0; i + 1 < length; ++i) {
      ids.push_back(kFirst + static_cast<int32_t>(random.below(static_cast<uint64_t>(V - kFirst))));
    }
    ids.push_back(kEos);
  }
  return ids;
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
  Batch batch;
  batch.sentences = sentences;
  batch.source_length = batch.target_length = length;
  batch.source = drawn(sentences, length, config.model.source_V, random);
  batch.target_output = drawn(sentences, length, config.model.V, random);
  for (int64_t i = 0; i < sentences; ++i) {
    const auto sentence = batch.target_output.begin() + i * length;
    batch.target_input.push_back(kBos);
    batch.target_input.insert(batch.target_input.end(), sentence, sentence + length - 1);
    batch.rows.push_back(i);
  }
  return to_device(for_task(config.model, batch), torch::kCPU);
}

}  // namespace transformer
