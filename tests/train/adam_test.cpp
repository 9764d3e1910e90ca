#include "transformer/train/adam.h"

#include <torch/torch.h>

#include "tests/catch.h"

using namespace transformer;

TEST_CASE("adam: twenty steps equal torch::optim::Adam's", "[numeric]") {
  torch::manual_seed(1);
  TrainingConfig training;
  auto ours = torch::randn({5, 3}, torch::kFloat64).requires_grad_();
  auto theirs = ours.detach().clone().requires_grad_();
  Adam adam({{"w", ours}}, training);
  torch::optim::Adam oracle({theirs}, torch::optim::AdamOptions(0).betas({0.9, 0.98}).eps(1e-9));
  for (int step = 1; step <= 20; ++step) {
    const auto target = torch::randn({5, 3}, torch::kFloat64);
    for (auto& w : {ours, theirs}) {
      w.mutable_grad().reset();
      ((w - target).pow(2).sum() * step).backward();
    }
    const double rate = 0.01 / step;
    static_cast<torch::optim::AdamOptions&>(oracle.param_groups()[0].options()).lr(rate);
    adam.step(rate);
    oracle.step();
    REQUIRE(torch::allclose(ours, theirs, 1e-10, 1e-12));
  }
}

TEST_CASE("adam: goes on from its saved state as if never stopped", "[numeric]") {
  TrainingConfig training;
  const auto start = torch::arange(4, torch::kFloat32);
  const auto run = [&](torch::Tensor w, Adam& adam, int steps) {
    for (int i = 0; i < steps; ++i) {
      w.mutable_grad() = w.detach() * 0.5;
      adam.step(0.1);
    }
  };
  auto whole = start.clone().requires_grad_();
  Adam unbroken({{"w", whole}}, training);
  run(whole, unbroken, 5);

  auto part = start.clone().requires_grad_();
  Adam first({{"w", part}}, training);
  run(part, first, 2);
  Adam second({{"w", part}}, training);
  second.load(first.state(), "test");
  run(part, second, 3);
  REQUIRE(torch::equal(whole, part));
}
