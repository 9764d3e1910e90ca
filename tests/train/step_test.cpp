#include "transformer/train/step.h"

#include <torch/torch.h>

#include "tests/catch.h"
#include "tests/data/text.h"
#include "tests/nn/configs.h"
#include "transformer/data/share.h"
#include "transformer/nn/init.h"

using namespace transformer;
using namespace transformer::testing;

namespace {

constexpr int64_t kSeventhStep = 7;

Config config_with(double P_drop) {
  Config config;
  config.model = small_model();
  config.model.V = config.model.source_V = 1000;
  config.model.P_drop = P_drop;
  config.training.accumulate = 2;
  return resolve(config);
}

Transformer model_of(const Config& config) {
  Transformer model(config.model);
  initialise(*model, 3);
  model->train();
  return model;
}

struct Step {
  StepSums sums;
  std::map<std::string, torch::Tensor> gradients;
};

Step step_of(const Config& config, const Corpus& corpus, const std::vector<Batch>& batches,
             int64_t rank, int64_t ranks) {
  auto model = model_of(config);
  Step step;
  step.sums = gradients_of(model, share_of(corpus, batches, rank, ranks), &corpus, config.training,
                           kSeventhStep, torch::kCPU,
                           step_share(config.model.family, batches, rank, ranks));
  for (const auto& item : model->named_parameters()) {
    step.gradients[item.key()] = item.value().grad().to(torch::kFloat64);
  }
  return step;
}

}  // namespace

TEST_CASE("step: the gradients of all ranks' shares add up to those of the whole step",
          "[numeric]") {
  const Folder folder;
  const Config config = config_with(0);
  const auto corpus = make_corpus(folder / "c", random_pairs(9, 6, 1));
  const std::vector<Batch> batches = {make_batch(corpus, {0, 4, 5, 8}),
                                      make_batch(corpus, {1, 2, 3, 6, 7})};
  const Step whole = step_of(config, corpus, batches, 0, 1);
  for (const int64_t ranks : {2, 3, 11}) {  // of 11, two at least have no sentence
    INFO(ranks << " ranks");
    double smoothed = 0;
    int64_t tokens = 0;
    auto sums = whole.gradients;
    for (auto& [name, sum] : sums) sum = torch::zeros_like(sum);
    for (int64_t rank = 0; rank < ranks; ++rank) {
      const Step part = step_of(config, corpus, batches, rank, ranks);
      smoothed += part.sums.smoothed;
      tokens += part.sums.target_tokens;
      for (auto& [name, sum] : sums) sum += part.gradients.at(name);
    }
    REQUIRE(tokens == whole.sums.target_tokens);
    REQUIRE(smoothed == Approx(whole.sums.smoothed).epsilon(1e-6));
    for (const auto& [name, sum] : sums) {
      INFO(name);
      REQUIRE(torch::allclose(sum, whole.gradients.at(name), 1e-4, 1e-7));
    }
  }
}

TEST_CASE("step: ranks that have the same sentence drop other units of it", "[numeric]") {
  const Folder folder;
  const auto corpus = make_corpus(folder / "c", {{{5, 6, 7, 8}, {9, 10, 11}}});
  const std::vector<Batch> batches = {make_batch(corpus, {0})};
  const auto loss = [&](double P_drop, int64_t rank) {
    const Config config = config_with(P_drop);
    auto model = model_of(config);
    return gradients_of(model, batches, &corpus, config.training, kSeventhStep, torch::kCPU,
                        {.rank = rank, .predicted = 8})
        .smoothed;
  };
  REQUIRE(loss(0, 0) == loss(0, 1));
  REQUIRE(loss(0.3, 0) == loss(0.3, 0));
  REQUIRE(loss(0.3, 0) != loss(0.3, 1));
  REQUIRE(loss(0.3, 1) != loss(0.3, 2));
}
