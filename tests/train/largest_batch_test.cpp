#include "transformer/train/largest_batch.h"

#include <torch/torch.h>

#include <cmath>

#include "tests/catch.h"
#include "tests/temporary_folder.h"
#include "transformer/data/tokenizer.h"
#include "transformer/files.h"
#include "transformer/nn/init.h"
#include "transformer/random.h"
#include "transformer/train/adam.h"
#include "transformer/train/schedule.h"
#include "transformer/train/step.h"
#include "transformer/train/trainer.h"

using namespace transformer;
namespace fs = std::filesystem;

namespace {

constexpr int64_t kV = 19;

// Sources of 1..12 word-pieces, targets of their own lengths.
Corpus uneven_corpus(const fs::path& file) {
  write_file(file, [&](std::ostream& out) {
    CorpusWriter writer(out, kV, kV);
    Random random(7);
    constexpr int64_t kPairs = 150;
    const auto pieces = [&] {
      std::vector<int32_t> drawn(1 + random.below(12));
      for (auto& piece : drawn)
        piece = static_cast<int32_t>(kEos + 1 + random.below(kV - kEos - 1));
      return drawn;
    };
    for (int64_t i = 0; i < kPairs; ++i) writer.add(pieces(), pieces());
    writer.finish({.kept = kPairs}, "{}");
  });
  return Corpus::open(file);
}

Config small_config(int64_t accumulate) {
  Config config;
  config.model.N = 1;
  config.model.d_model = 16;
  config.model.d_ff = 24;
  config.model.h = 2;
  config.model.P_drop = 0.3;
  config.model.V = kV;
  config.data.tokens_per_batch = 90;
  config.training.train_steps = 9;
  config.training.warmup_steps = 5;
  config.training.accumulate = accumulate;
  config.training.validate_every = 0;
  return resolve(config);
}

// The weights of training without anything before the first step.
State trained_by_hand(const Config& config, const Corpus& corpus) {
  const auto& training = config.training;
  Transformer model(config.model);
  initialise(*model, training.seed);
  model->train();
  Adam::Parameters parameters;
  for (const auto& parameter : model->named_parameters()) {
    parameters.emplace_back(parameter.key(), parameter.value());
  }
  Adam optimizer(parameters, training);
  BatchStream stream(corpus, config.data.tokens_per_batch, training.seed, {});
  for (int64_t step = 1; step <= training.train_steps; ++step) {
    std::vector<Batch> batches;
    for (int64_t i = 0; i < training.accumulate; ++i) batches.push_back(stream.next());
    gradients_of(model, batches, nullptr, training, step, torch::kCPU);
    optimizer.step(learning_rate(training, config.model.d_model, step));
  }
  State weights;
  for (const auto& [name, tensor] : state_of(*model)) weights[name] = tensor.clone();
  return weights;
}

}  // namespace

TEST_CASE("largest batch: none of forty epochs has many more word-pieces") {
  const TemporaryFolder folder;
  const Corpus corpus = uneven_corpus(folder / "corpus");
  const auto config = small_config(1);
  const Batch largest = largest_batch(corpus, config);
  REQUIRE(largest.source.empty());
  REQUIRE(std::max(largest.source_length, largest.target_length) * largest.sentences <=
          config.data.tokens_per_batch);
  const int64_t found = largest.source_tokens + largest.target_tokens;
  int64_t most = 0;
  for (int64_t epoch = 0; epoch < 40; ++epoch) {
    for (const auto& rows : plan_epoch(corpus, config.data.tokens_per_batch, 1, epoch)) {
      const Batch batch = outline_of(corpus, rows);
      most = std::max(most, batch.source_tokens + batch.target_tokens);
    }
  }
  REQUIRE(found <= 2 * config.data.tokens_per_batch);
  REQUIRE(static_cast<double>(most) < 1.1 * static_cast<double>(found));
}

TEST_CASE("largest batch: tried first, it leaves no trace in the weights", "[numeric]") {
  const TemporaryFolder folder;
  const Corpus corpus = uneven_corpus(folder / "corpus");
  for (const int64_t accumulate : {1, 3}) {
    INFO(accumulate);
    const auto config = small_config(accumulate);
    const State want = trained_by_hand(config, corpus);
    Transformer model(config.model);
    train(model,
          {.config = config,
           .train = corpus,
           .checkpoints = folder / ("run-" + std::to_string(accumulate))},
          [](const TrainingEvent&) {});
    for (const auto& [name, tensor] : state_of(*model)) {
      INFO(name);
      REQUIRE(torch::equal(tensor, want.at(name)));
    }
  }
}

TEST_CASE("largest batch: a try leaves weights, and no gradients", "[numeric]") {
  const TemporaryFolder folder;
  const Corpus corpus = uneven_corpus(folder / "corpus");
  const auto config = small_config(2);
  Transformer model(config.model);
  initialise(*model, 3);
  State before;
  for (const auto& [name, tensor] : state_of(*model)) before[name] = tensor.clone();
  try_largest_batch(model, largest_batch(corpus, config), corpus, config, torch::kCPU);
  for (const auto& parameter : model->named_parameters()) {
    INFO(parameter.key());
    REQUIRE_FALSE(parameter.value().grad().defined());
    REQUIRE(torch::equal(parameter.value(), before.at(parameter.key())));
  }
}
