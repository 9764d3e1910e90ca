#include "transformer/nn/kernels/relu_feed_forward.h"

#include <ATen/Parallel.h>
#include <torch/torch.h>

#include <algorithm>

#include "transformer/nn/kernels/vectorized.h"

namespace transformer {

namespace {

// Where `inner` is 0, so becomes `gradient`. Returns the sums of what is left over the rows.
torch::Tensor stop_and_sum_(torch::Tensor& gradient, const torch::Tensor& inner) {
  const int64_t rows = gradient.size(0);
  const int64_t width = gradient.size(1);
  const int64_t parts = std::clamp<int64_t>(rows / kRowGrain, 1, at::get_num_threads());
  auto partial = torch::zeros({parts, width}, gradient.options());
  auto* const g = gradient.data_ptr<float>();
  const auto* const h = inner.const_data_ptr<float>();
  auto* const sums = partial.data_ptr<float>();
  at::parallel_for(0, parts, 1, [&](int64_t begin, int64_t end) {
    vectorized([&]() __attribute__((always_inline)) {
      for (int64_t part = begin; part < end; ++part) {
        float* to = sums + part * width;
        for (int64_t i = rows * part / parts; i < rows * (part + 1) / parts; ++i) {
          for (int64_t j = 0; j < width; j += kLanes) {
            Floats x, y, total;
            load_some(x, g + i * width + j, width - j);
            load_some(y, h + i * width + j, width - j);
            load_some(total, to + j, width - j);
            x = y > 0 ? x : Floats{};
            store_some(g + i * width + j, x, width - j);
            store_some(to + j, total + x, width - j);
          }
        }
      }
    });
  });
  return parts == 1 ? partial.select(0, 0) : partial.sum(0);
}

class ReluFeedForward : public torch::autograd::Function<ReluFeedForward> {
 public:
  static torch::Tensor forward(torch::autograd::AutogradContext* context, const torch::Tensor& x,
                               const torch::Tensor& in_weight, const torch::Tensor& in_bias,
                               const torch::Tensor& out_weight, const torch::Tensor& out_bias) {
    const auto rows = x.reshape({-1, x.size(-1)});
    auto inner = torch::addmm(in_bias, rows, in_weight.t());
    inner.relu_();
    const auto out = torch::addmm(out_bias, inner, out_weight.t());
    context->save_for_backward({rows, inner, in_weight, out_weight});
    return out.view(x.sizes());
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 const torch::autograd::variable_list& outer) {
    const auto saved = context->get_saved_variables();
    const auto& rows = saved[0];
    const auto& inner = saved[1];
    const auto gradient = outer[0].reshape(rows.sizes()).contiguous();
    const auto out_weight_gradient = torch::mm(gradient.t(), inner);
    auto inner_gradient = torch::mm(gradient, saved[3]);
    const auto in_bias_gradient = stop_and_sum_(inner_gradient, inner);
    return {torch::mm(inner_gradient, saved[2]).view(outer[0].sizes()),
            torch::mm(inner_gradient.t(), rows), in_bias_gradient, out_weight_gradient,
            gradient.sum(0)};
  }
};

}  // namespace

torch::Tensor relu_feed_forward(const torch::Tensor& x, const torch::Tensor& in_weight,
                                const torch::Tensor& in_bias, const torch::Tensor& out_weight,
                                const torch::Tensor& out_bias) {
  return ReluFeedForward::apply(x, in_weight, in_bias, out_weight, out_bias);
}

}  // namespace transformer
