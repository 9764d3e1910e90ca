#include <torch/torch.h>

#include <cmath>

#include "tests/catch.h"
#include "tests/data/text.h"
#include "tests/train/tiny_training.h"
#include "transformer/data/share.h"
#include "transformer/data/task.h"
#include "transformer/nn/init.h"
#include "transformer/train/perplexity.h"
#include "transformer/train/step.h"

using namespace transformer;
using namespace transformer::testing;

namespace {

constexpr auto kFamilies = {Family::decoder_only, Family::encoder_only};

Config family_config(Family family) {
  Config config = tiny_config();
  config.model.family = family;
  return resolve(config);
}

Corpus family_corpus(const Folder& folder, int64_t pairs, uint64_t longest) {
  Random random(5);
  Pairs all(static_cast<size_t>(pairs));
  for (auto& [source, target] : all) {
    source = {4};
    target.resize(2 + random.below(longest - 1));
    for (auto& piece : target) piece = static_cast<int32_t>(4 + random.below(kTinyV - 4));
  }
  return make_corpus(folder / "corpus", all, kTinyV);
}

// Losses of a batch, each predicted word-piece alone: from the logits of its sentence alone.
struct LossByHand {
  double smoothed = 0, nll = 0;
  int64_t predicted = 0;
};
LossByHand loss_by_hand(Transformer& model, const Batch& batch, double eps_ls) {
  const torch::NoGradGuard no_gradient;
  LossByHand loss;
  for (int64_t i = 0; i < batch.sentences; ++i) {
    std::vector<int64_t> input, output;
    for (int64_t t = 0; t < batch.target_length; ++t) {
      const auto at = static_cast<size_t>(i * batch.target_length + t);
      if (batch.target_input[at] == kPad) break;
      input.push_back(batch.target_input[at]);
      output.push_back(batch.target_output[at]);
    }
    const auto ids = torch::tensor(input).unsqueeze(0);
    const auto logits = model(torch::zeros({1, 0}, torch::kLong), ids)[0].to(torch::kDouble);
    const auto log_p = logits - logits.exp().sum(-1, true).log();
    for (size_t t = 0; t < output.size(); ++t) {
      if (output[t] == kPad) continue;
      const auto row = log_p[static_cast<int64_t>(t)];
      const double nll = -row[output[t]].item<double>();
      loss.nll += nll;
      loss.smoothed +=
          (1 - eps_ls) * nll - eps_ls / static_cast<double>(kTinyV) * row.sum().item<double>();
      ++loss.predicted;
    }
  }
  return loss;
}

}  // namespace

TEST_CASE("families: the loss is over what is predicted alone, by hand", "[numeric]") {
  const Folder folder;
  const auto corpus = family_corpus(folder, 12, 9);
  for (const auto family : kFamilies) {
    INFO(name_of(family));
    auto config = family_config(family);
    config.model.P_drop = 0;
    Transformer model(config.model);
    initialise(*model, 3);
    model->train();
    const std::vector<Batch> batches = {make_batch(corpus, {0, 3, 5}), make_batch(corpus, {1, 2})};
    LossByHand want;
    for (const auto& batch : batches) {
      const auto loss =
          loss_by_hand(model, for_task(config.model, batch, MaskStream::of_step(1, 7)), 0.1);
      want.smoothed += loss.smoothed;
      want.nll += loss.nll;
      want.predicted += loss.predicted;
    }
    const auto sums = gradients_of(model, batches, &corpus, config.training, 7, torch::kCPU);
    REQUIRE(sums.predicted == want.predicted);
    REQUIRE(sums.nll == Approx(want.nll).epsilon(1e-5));
    REQUIRE(sums.smoothed == Approx(want.smoothed).epsilon(1e-5));
    REQUIRE(sums.source_tokens == 0);
    REQUIRE(sums.target_tokens == batches[0].target_tokens + batches[1].target_tokens);

    LossByHand all;
    for (int64_t row = 0; row < corpus.size(); ++row) {
      const auto loss = loss_by_hand(model, for_task(config.model, make_batch(corpus, {row})), 0);
      all.nll += loss.nll;
      all.predicted += loss.predicted;
    }
    for (const int64_t tokens_per_batch : {9, 40, 1000}) {  // whatever the batches
      const auto found = perplexity(model, corpus, tokens_per_batch, torch::kCPU);
      REQUIRE(found.tokens == all.predicted);
      REQUIRE(found.value() ==
              Approx(std::exp(all.nll / static_cast<double>(all.predicted))).epsilon(1e-5));
    }
  }
}

TEST_CASE("families: the gradients of all ranks' shares add up to those of the whole step",
          "[numeric]") {
  const Folder folder;
  const auto corpus = family_corpus(folder, 9, 9);
  for (const auto family : kFamilies) {
    INFO(name_of(family));
    auto config = family_config(family);
    config.model.P_drop = 0;
    const std::vector<Batch> batches = {make_batch(corpus, {0, 4, 5, 8}),
                                        make_batch(corpus, {1, 2, 3, 6, 7})};
    const auto gradient = [&](int64_t rank, int64_t ranks) {
      Transformer model(config.model);
      initialise(*model, 3);
      model->train();
      gradients_of(model, share_of(corpus, batches, rank, ranks), &corpus, config.training, 7,
                   torch::kCPU, step_share(family, batches, rank, ranks));
      std::vector<torch::Tensor> all;
      for (const auto& parameter : model->parameters()) all.push_back(parameter.grad().flatten());
      return torch::cat(all).to(torch::kDouble);
    };
    const auto whole = gradient(0, 1);
    auto sum = torch::zeros_like(whole);
    for (int64_t rank = 0; rank < 3; ++rank) sum += gradient(rank, 3);
    REQUIRE(whole.norm().item<double>() > 0.1);
    REQUIRE(torch::allclose(sum, whole, 1e-4, 1e-6));
  }
}

TEST_CASE("families: stopped after any step and resumed, training ends as if never stopped",
          "[numeric]") {
  const Folder folder;
  const auto corpus = family_corpus(folder, 40, 9);  // several epochs in 12 steps
  for (const auto family : kFamilies) {
    for (const int64_t accumulate : {1, 2}) {  // batches made ahead, and outlines
      auto config = family_config(family);
      config.training.accumulate = accumulate;
      const auto place = folder / (name_of(family) + std::to_string(accumulate));
      Losses unbroken;
      const auto want = train_in(place / "unbroken", config, corpus, unbroken);
      REQUIRE(want.progress.epoch > 0);
      REQUIRE(unbroken.valid.size() == 3);
      for (int64_t stop = 1; stop <= 11; stop += accumulate) {
        INFO(name_of(family) << " stopped after step " << stop);
        const auto path = place / std::to_string(stop);
        Losses losses;
        REQUIRE(train_in(path, config, corpus, losses, stop).stopped);
        train_in(path, config, corpus, losses);
        REQUIRE(losses.steps == unbroken.steps);
        REQUIRE(losses.valid == unbroken.valid);
        for (const char* file : {"model.safetensors", "optimizer.safetensors"}) {
          REQUIRE(read_file(path / "step-000000012" / file) ==
                  read_file(place / "unbroken" / "step-000000012" / file));
        }
      }
    }
  }
}

namespace {

// A chain over four word-pieces: the first uniform, the next the successor with probability 3/4 and
// each of the others with 1/12. Sentences of six.
constexpr double kStay = 0.75;

struct Chain {
  Corpus corpus;
  double nll = 0;  // of all its sentences under the chain itself, their ends being certain
};
Chain chain_of(const std::filesystem::path& file, int64_t sentences, uint64_t seed) {
  Random random(seed);
  Pairs pairs(static_cast<size_t>(sentences));
  double nll = 0;
  for (auto& [source, target] : pairs) {
    source = {4};
    auto state = static_cast<int32_t>(random.below(4));
    nll -= std::log(0.25);
    target = {4 + state};
    for (int i = 1; i < 6; ++i) {
      const bool goes_on = random.uniform() < kStay;
      const auto step = goes_on ? 1 : 2 + static_cast<int32_t>(random.below(3));
      nll -= std::log(goes_on ? kStay : (1 - kStay) / 3);
      state = (state + step) % 4;
      target.push_back(4 + state);
    }
  }
  return {make_corpus(file, pairs, kTinyV), nll};
}

Config learning_config(Family family, int64_t steps) {
  auto config = family_config(family);
  config.model.d_model = 32;
  config.model.d_k = config.model.d_v = 16;
  config.model.d_ff = 64;
  config.model.P_drop = 0;
  config.data.tokens_per_batch = 1000;
  config.training.train_steps = config.training.checkpoint_every = steps;
  config.training.warmup_steps = 100;
  config.training.factor = 0.5;
  config.training.eps_ls = 0;
  config.training.validate_every = 0;
  return resolve(config);
}

}  // namespace

TEST_CASE("decoder only: a tiny model reaches the entropy of a generated source",
          "[e2e][learning]") {
  const Folder folder;
  const auto seen = chain_of(folder / "seen", 20000, 1);
  const auto unseen = chain_of(folder / "unseen", 2000, 2);
  const auto config = learning_config(Family::decoder_only, 800);
  Transformer model(config.model);
  train(model, {.config = config, .train = seen.corpus, .checkpoints = folder / "run"},
        [](const TrainingEvent&) {});
  const auto found = perplexity(model, unseen.corpus, 1000, torch::kCPU);
  REQUIRE(found.tokens == 2000 * 7);
  // ln 4 for the first, the chain's entropy for five, nothing for the end.
  const double entropy =
      (std::log(4) - 5 * (kStay * std::log(kStay) + (1 - kStay) * std::log((1 - kStay) / 3))) / 7;
  const double best = unseen.nll / (2000 * 7);
  REQUIRE(best == Approx(entropy).margin(0.02));  // the sample is of the chain
  const double reached = found.nll / (2000 * 7);
  REQUIRE(reached > best - 0.005);  // nothing predicts better than the chain itself
  REQUIRE(reached < best + 0.02);
}

TEST_CASE("encoder only: a tiny model fills in what the other side of the mask tells",
          "[e2e][learning]") {
  // Every sentence has one word-piece of four, six times: what is hidden first of all stands
  // behind.
  const Folder folder;
  const auto alike = [&](const char* name, int64_t sentences, uint64_t seed) {
    Random random(seed);
    Pairs pairs(static_cast<size_t>(sentences));
    for (auto& [source, target] : pairs) {
      source = {4};
      target.assign(6, static_cast<int32_t>(4 + random.below(4)));
    }
    return make_corpus(folder / name, pairs, kTinyV);
  };
  const auto seen = alike("seen", 4000, 1);
  const auto unseen = alike("unseen", 500, 2);
  const auto config = learning_config(Family::encoder_only, 300);
  Transformer model(config.model);
  train(model, {.config = config, .train = seen, .checkpoints = folder / "run"},
        [](const TrainingEvent&) {});
  const auto found = perplexity(model, unseen, 1000, torch::kCPU);
  REQUIRE(found.tokens == 500);  // one of six
  REQUIRE(found.value() < 1.1);
}
