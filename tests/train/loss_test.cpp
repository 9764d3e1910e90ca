#include "transformer/train/loss.h"

#include <torch/torch.h>

#include <cmath>

#include "tests/catch.h"
#include "transformer/data/tokenizer.h"

using namespace transformer;

namespace {

struct Case {
  torch::Tensor hidden, weight, targets;
};

Case random_case(int64_t batch, int64_t time, int64_t d_model, int64_t V) {
  torch::manual_seed(3);
  auto targets = torch::randint(1, V, {batch, time}, torch::kInt64);
  targets.index_put_({0, time - 1}, kPad);
  return {torch::randn({batch, time, d_model}, torch::kFloat64).requires_grad_(),
          torch::randn({V, d_model}, torch::kFloat64).requires_grad_(), targets};
}

torch::Tensor oracle(const Case& c, double eps_ls) {
  namespace F = torch::nn::functional;
  const auto logits = torch::matmul(c.hidden, c.weight.t()).reshape({-1, c.weight.size(0)});
  return F::cross_entropy(logits, c.targets.reshape({-1}),
                          F::CrossEntropyFuncOptions()
                              .reduction(torch::kSum)
                              .ignore_index(kPad)
                              .label_smoothing(eps_ls));
}

}  // namespace

TEST_CASE("loss: values and gradients equal torch's cross-entropy of the same smoothing",
          "[numeric]") {
  for (const double eps_ls : {0.0, 0.1, 0.3}) {
    // 70,000 words make blocks of 16 rows, so that several are gone through.
    for (const int64_t V : {11, 70000}) {
      const Case ours = random_case(5, 7, 3, V);
      const Case theirs = random_case(5, 7, 3, V);
      const auto sums = smoothed_loss(ours.hidden, ours.weight, ours.targets, eps_ls);
      const auto want = oracle(theirs, eps_ls);
      REQUIRE(sums.smoothed.item<double>() == Approx(want.item<double>()).epsilon(1e-12));
      REQUIRE(sums.nll.item<double>() == Approx(oracle(theirs, 0.0).item<double>()).epsilon(1e-12));
      (sums.smoothed * 0.25).backward();
      (want * 0.25).backward();
      REQUIRE(torch::allclose(ours.hidden.grad(), theirs.hidden.grad(), 1e-10, 1e-13));
      REQUIRE(torch::allclose(ours.weight.grad(), theirs.weight.grad(), 1e-10, 1e-13));
    }
  }
}

TEST_CASE("loss: gradients by finite differences", "[numeric]") {
  const Case c = random_case(2, 3, 4, 9);
  smoothed_loss(c.hidden, c.weight, c.targets, 0.1).smoothed.backward();
  torch::NoGradGuard no_gradient;
  for (const auto& tensor : {c.hidden, c.weight}) {
    auto flat = tensor.detach().reshape({-1});
    for (int64_t i = 0; i < flat.numel(); ++i) {
      constexpr double kStep = 1e-5;
      const auto loss_at = [&](double change) {
        flat[i] += change;
        const double loss =
            smoothed_loss(c.hidden, c.weight, c.targets, 0.1).smoothed.item<double>();
        flat[i] -= change;
        return loss;
      };
      const double slope = (loss_at(kStep) - loss_at(-kStep)) / (2 * kStep);
      REQUIRE(tensor.grad().reshape({-1})[i].item<double>() ==
              Approx(slope).epsilon(1e-6).margin(1e-8));
    }
  }
}

TEST_CASE("loss: a batch of padding alone costs nothing", "[numeric]") {
  Case c = random_case(2, 3, 4, 9);
  c.targets.fill_(kPad);
  const auto sums = smoothed_loss(c.hidden, c.weight, c.targets, 0.1);
  REQUIRE(sums.smoothed.item<double>() == 0);
  sums.smoothed.backward();
  REQUIRE(c.hidden.grad().abs().max().item<double>() == 0);
}

TEST_CASE("loss: the floor is the entropy of the smoothed target, and is reached", "[numeric]") {
  REQUIRE(loss_floor(0.1, 37000) == Approx(1.377).epsilon(1e-3));
  REQUIRE(loss_floor(0.0, 37000) == 0);
  // Logits that are the smoothed target's logarithm: hidden = I, weight = logits transposed.
  constexpr int64_t V = 7;
  constexpr double eps_ls = 0.2;
  auto p = torch::full({1, V}, eps_ls / V, torch::kFloat64);
  p[0][4] += 1 - eps_ls;
  const auto sums = smoothed_loss(torch::ones({1, 1}, torch::kFloat64), p.log().t().contiguous(),
                                  torch::tensor({4}), eps_ls);
  REQUIRE(sums.smoothed.item<double>() == Approx(loss_floor(eps_ls, V)).epsilon(1e-12));
}

TEST_CASE("loss: a weight multiplies the smoothed loss and its gradient alone", "[numeric]") {
  for (const auto type : {torch::kFloat32, torch::kFloat64}) {  // the kernel, and ATen's operations
    Case plain = random_case(5, 7, 6, 40);
    Case weighted = random_case(5, 7, 6, 40);
    for (auto* c : {&plain, &weighted}) {
      c->hidden = c->hidden.detach().to(type).requires_grad_();
      c->weight = c->weight.detach().to(type).requires_grad_();
    }
    const auto once = smoothed_loss(plain.hidden, plain.weight, plain.targets, 0.1);
    const auto quarter =
        smoothed_loss(weighted.hidden, weighted.weight, weighted.targets, 0.1, 0.25);
    once.smoothed.backward();
    quarter.smoothed.backward();
    REQUIRE(quarter.smoothed.item<double>() == Approx(0.25 * once.smoothed.item<double>()));
    REQUIRE(quarter.nll.item<double>() == Approx(once.nll.item<double>()));
    REQUIRE(once.smoothed.item<double>() ==
            Approx(oracle(plain, 0.1).item<double>()).epsilon(1e-5));
    REQUIRE(torch::allclose(weighted.hidden.grad() * 4, plain.hidden.grad(), 1e-5, 1e-7));
    REQUIRE(torch::allclose(weighted.weight.grad() * 4, plain.weight.grad(), 1e-5, 1e-7));
  }
}
