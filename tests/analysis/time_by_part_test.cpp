#include "transformer/analysis/time_by_part.h"

#include <ATen/record_function.h>
#include <torch/torch.h>

#include <chrono>

#include "tests/catch.h"

using namespace transformer;

namespace {

// x doubled, in at least 5 ms forward and 20 ms backward.
class Slow : public torch::autograd::Function<Slow> {
 public:
  static torch::Tensor forward(torch::autograd::AutogradContext*, const torch::Tensor& x) {
    wait(std::chrono::milliseconds(5));
    return x * 2;
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext*,
                                                 const torch::autograd::variable_list& outer) {
    wait(std::chrono::milliseconds(20));
    return {outer[0] * 2};
  }

 private:
  static void wait(std::chrono::milliseconds time) {
    const auto start = std::chrono::steady_clock::now();
    while (std::chrono::steady_clock::now() - start < time) {
    }
  }
};

}  // namespace

TEST_CASE("time by part: forward and backward go to the innermost part", "[numeric]") {
  const auto x = torch::ones({2}).requires_grad_();
  const TimeByPart clock;
  {
    RECORD_USER_SCOPE("outer");
    auto y = Slow::apply(x);
    {
      RECORD_USER_SCOPE("inner");
      y = Slow::apply(Slow::apply(y));
    }
    y.sum().backward();
  }
  const auto seconds = clock.seconds();
  REQUIRE(x.grad()[0].item<float>() == 8);
  // One and two of 25 ms, at least; whoever waits for the machine waits longer.
  REQUIRE(seconds.at("outer") >= 0.025);
  REQUIRE(seconds.at("inner") >= 0.050);
  REQUIRE(seconds.at("other") >= 0);
  REQUIRE(seconds.size() == 3);
}
