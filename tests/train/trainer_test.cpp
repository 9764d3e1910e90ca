#include "transformer/train/trainer.h"

#include <torch/torch.h>

#include <numeric>
#include <vector>

#include "tests/catch.h"
#include "tests/data/text.h"
#include "tests/train/tiny_training.h"
#include "transformer/data/batches.h"
#include "transformer/data/tokenizer.h"
#include "transformer/error.h"
#include "transformer/files.h"
#include "transformer/nn/init.h"
#include "transformer/nn/masks.h"
#include "transformer/random.h"
#include "transformer/train/batch_tensors.h"
#include "transformer/train/schedule.h"

using namespace transformer;
using namespace transformer::testing;
using Catch::Matchers::Contains;
namespace fs = std::filesystem;

namespace {

constexpr int64_t kV = kTinyV;

// Random word-pieces; the target is the source. Lengths in shortest..longest, end-of-sentence not
// counted.
Corpus copy_corpus(const fs::path& file, int64_t count, uint64_t shortest, uint64_t longest) {
  Random random(5);
  Pairs pairs(static_cast<size_t>(count));
  for (auto& [source, target] : pairs) {
    source.resize(shortest + random.below(longest - shortest + 1));
    for (auto& piece : source) piece = static_cast<int32_t>(kEos + 1 + random.below(kV - kEos - 1));
    target = source;
  }
  return make_corpus(file, pairs, kV);
}

}  // namespace

TEST_CASE("training: stopped after any step and resumed, it ends as if never stopped",
          "[numeric]") {
  const TemporaryFolder folder;
  const Corpus corpus = copy_corpus(folder / "corpus", 40, 2, 9);  // several epochs in 12 steps
  const Config config = resolve(tiny_config());
  Losses unbroken;
  const auto want = train_in(folder / "unbroken", config, corpus, unbroken);
  REQUIRE(want.progress.step == 12);
  REQUIRE(want.progress.epoch > 0);
  REQUIRE(unbroken.valid.size() == 3);
  for (int64_t stop = 1; stop <= 11; ++stop) {
    INFO("stopped after step " << stop);
    const auto path = folder / ("stop-" + std::to_string(stop));
    Losses losses;
    REQUIRE(train_in(path, config, corpus, losses, stop).stopped);
    const auto got = train_in(path, config, corpus, losses);
    REQUIRE_FALSE(got.stopped);
    REQUIRE(losses.steps == unbroken.steps);
    for (const char* file : {"model.safetensors", "optimizer.safetensors"}) {
      REQUIRE(read_file(path / "step-000000012" / file) ==
              read_file(folder / "unbroken" / "step-000000012" / file));
    }
    REQUIRE(got.progress.target_tokens == want.progress.target_tokens);
    REQUIRE(got.progress.flops == want.progress.flops);
  }
}

TEST_CASE("training: a killed process goes on from its last checkpoint to the same end",
          "[numeric]") {
  const TemporaryFolder folder;
  const Corpus corpus = copy_corpus(folder / "corpus", 40, 2, 9);
  const Config config = resolve(tiny_config());
  Losses unbroken;
  train_in(folder / "unbroken", config, corpus, unbroken);
  // As a kill after step 10's checkpoint and before the end leaves it.
  fs::create_directories(folder / "killed");
  fs::copy(folder / "unbroken" / "step-000000010", folder / "killed" / "step-000000010",
           fs::copy_options::recursive);
  Losses losses;
  train_in(folder / "killed", config, corpus, losses);
  REQUIRE(read_file(folder / "killed" / "step-000000012" / "model.safetensors") ==
          read_file(folder / "unbroken" / "step-000000012" / "model.safetensors"));
}

TEST_CASE("training: k small batches are one large one", "[numeric]") {
  const TemporaryFolder folder;
  constexpr int64_t kPairs = 8;
  const Corpus corpus = copy_corpus(folder / "corpus", kPairs, 2, 5);
  Config config = resolve(tiny_config());
  config.model.P_drop = 0;
  config.data.tokens_per_batch = 6;  // a pair a batch, but for the shortest
  config.training.train_steps = 1;
  config.training.epsilon = 1e-3;  // keeps rounding of tiny gradients from growing
  const auto batches = plan_epoch(corpus, 6, config.training.seed, 0).size();
  REQUIRE(batches > 3);
  config.training.accumulate = static_cast<int64_t>(batches);
  Transformer in_parts(config.model);
  in_parts->to(torch::kFloat64);
  train(in_parts, {.config = config, .train = corpus, .checkpoints = folder / "run"},
        [](const TrainingEvent&) {});

  // By hand: the mean loss over all target tokens of all the pairs at once, and torch's own Adam.
  Transformer at_once(config.model);
  initialise(*at_once, config.training.seed);
  at_once->to(torch::kFloat64);
  std::vector<int64_t> rows(kPairs);
  std::iota(rows.begin(), rows.end(), int64_t{0});
  const Batch batch = make_batch(corpus, rows);
  const auto ids = to_device(batch, torch::kCPU);
  const auto logits = at_once->forward(ids.source, ids.target_input);
  torch::nn::functional::cross_entropy(
      logits.reshape({-1, kV}), ids.target_output.reshape({-1}),
      torch::nn::functional::CrossEntropyFuncOptions().ignore_index(kPad).label_smoothing(
          config.training.eps_ls))
      .backward();
  torch::optim::Adam adam(at_once->parameters(),
                          torch::optim::AdamOptions(learning_rate(config.training, 16, 1))
                              .betas({0.9, 0.98})
                              .eps(1e-3));
  adam.step();
  const State want = state_of(*at_once);
  for (const auto& [name, tensor] : state_of(*in_parts)) {
    INFO(name);
    REQUIRE(torch::allclose(tensor, want.at(name), 1e-8, 1e-10));
  }
}

TEST_CASE("training: a loss that is not finite stops the run and leaves the last checkpoint",
          "[numeric]") {
  const TemporaryFolder folder;
  const Corpus corpus = copy_corpus(folder / "corpus", 40, 2, 9);
  Config config = resolve(tiny_config());
  config.training.schedule = ScheduleKind::constant;
  config.training.learning_rate = 1e25;
  config.training.checkpoint_every = 1;
  Losses losses;
  REQUIRE_THROWS_WITH(train_in(folder / "run", config, corpus, losses),
                      Contains("step ") && Contains("not finite") && Contains("Training pairs"));
  const auto left = newest_checkpoint(folder / "run", [](const std::string&) {});
  REQUIRE(left);
  for (const auto& [name, tensor] : left->model) {
    REQUIRE(torch::isfinite(tensor).all().item<bool>());
  }
}

TEST_CASE("training: diagnostics come when asked for and change nothing", "[numeric]") {
  const TemporaryFolder folder;
  const Corpus corpus = copy_corpus(folder / "corpus", 40, 2, 9);
  Config config = resolve(tiny_config());
  config.training.accumulate = 2;
  Transformer without(config.model), with(config.model);
  train(without, {.config = config, .train = corpus, .checkpoints = folder / "without"},
        [](const TrainingEvent&) {});
  config.training.diagnostics_every = 5;
  std::vector<int64_t> steps;
  train(with, {.config = config, .train = corpus, .checkpoints = folder / "with"},
        [&](const TrainingEvent& event) {
          const auto* diagnosed = std::get_if<Diagnosed>(&event);
          if (diagnosed == nullptr) return;
          steps.push_back(diagnosed->step);
          REQUIRE(diagnosed->sublayers.size() == 5);
        });
  REQUIRE(steps == std::vector<int64_t>{5, 10});
  const State want = state_of(*without);
  for (const auto& [name, tensor] : state_of(*with)) {
    INFO(name);
    REQUIRE(torch::equal(tensor, want.at(name)));
  }
}

TEST_CASE("training: another config or other data in the folder is refused by name", "[numeric]") {
  const TemporaryFolder folder;
  const Corpus corpus = copy_corpus(folder / "corpus", 40, 2, 9);
  Config config = resolve(tiny_config());
  Losses losses;
  train_in(folder / "run", config, corpus, losses);
  const Corpus other = copy_corpus(folder / "other", 39, 2, 9);
  REQUIRE_THROWS_WITH(train_in(folder / "run", config, other, losses),
                      Contains("the training data is not what the run began with"));
  config.training.beta2 = 0.9;
  REQUIRE_THROWS_WITH(train_in(folder / "run", config, corpus, losses),
                      Contains("training.beta2: 0.98 there; 0.9 now"));
}

TEST_CASE("training: a run given more steps ends as one that had them from the start",
          "[numeric]") {
  const TemporaryFolder folder;
  const Corpus corpus = copy_corpus(folder / "corpus", 40, 2, 9);
  Config config = resolve(tiny_config());
  Losses losses;
  train_in(folder / "unbroken", config, corpus, losses);
  config.training.train_steps = 7;  // neither a multiple of checkpoint_every nor of validate_every
  train_in(folder / "longer", config, corpus, losses);
  config.training.train_steps = 12;
  config.decoding.beam = 9;
  config.training.schedule = ScheduleKind::cosine;
  REQUIRE_THROWS_WITH(train_in(folder / "longer", config, corpus, losses), Contains("schedule"));
  config.training.schedule = ScheduleKind::noam;
  train_in(folder / "longer", config, corpus, losses);
  const auto read = [&](const std::string& run, const char* file) {
    return read_state(folder / run / "step-000000012" / file).state;
  };
  for (const char* file : {"model.safetensors", "optimizer.safetensors"}) {
    const State want = read("unbroken", file);
    for (const auto& [name, tensor] : read("longer", file)) {
      REQUIRE(torch::equal(tensor, want.at(name)));
    }
  }
  config.training.train_steps = 11;
  REQUIRE_THROWS_WITH(train_in(folder / "longer", config, corpus, losses),
                      Contains("training.train_steps: 12 there; 11 now (a run can be given more"));
  Config cosine = resolve(tiny_config());
  cosine.training.schedule = ScheduleKind::cosine;
  train_in(folder / "cosine", cosine, corpus, losses);
  cosine.training.train_steps = 13;
  REQUIRE_THROWS_WITH(train_in(folder / "cosine", cosine, corpus, losses),
                      Contains("12 there; 13 now (the cosine schedule"));
}

TEST_CASE("copy task: a tiny model copies unseen sequences", "[e2e][learning]") {
  const TemporaryFolder folder;
  const Corpus corpus = copy_corpus(folder / "corpus", 4000, 3, 8);
  Config config = resolve(tiny_config());
  config.model.d_model = 32;
  config.model.d_k = config.model.d_v = 16;
  config.model.d_ff = 64;
  config.model.P_drop = 0;
  config.data.tokens_per_batch = 600;
  config.training.train_steps = 1500;
  config.training.warmup_steps = 200;
  config.training.factor = 0.5;
  config.training.eps_ls = 0;
  config.training.validate_every = 0;
  config.training.checkpoint_every = 1500;
  config = resolve(config);
  Transformer model(config.model);
  train(model, {.config = config, .train = corpus, .checkpoints = folder / "run"},
        [](const TrainingEvent&) {});

  torch::NoGradGuard no_gradient;
  model->eval();
  Random random(99);
  int64_t right = 0;
  int64_t all = 0;
  for (int i = 0; i < 200; ++i) {
    std::vector<int32_t> source(5);
    for (auto& piece : source) piece = static_cast<int32_t>(kEos + 1 + random.below(kV - kEos - 1));
    std::vector<int32_t> input = {kBos};
    input.insert(input.end(), source.begin(), source.end());
    source.push_back(kEos);
    const auto ids = padded({source}, torch::kCPU);
    const auto mask = padding_mask(ids);
    const auto hidden = model->decode(padded({input}, torch::kCPU), model->encode(ids, mask), mask);
    const auto best = torch::matmul(hidden, model->output_weight().t()).argmax(-1);
    right += best.eq(ids).sum().item<int64_t>();
    all += ids.numel();
  }
  REQUIRE(static_cast<double>(right) / static_cast<double>(all) > 0.98);
}
