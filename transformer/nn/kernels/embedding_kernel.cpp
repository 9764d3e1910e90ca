#include "transformer/nn/kernels/embedding_kernel.h"

#include <ATen/Parallel.h>
#include <torch/torch.h>

#include "transformer/nn/kernels/dropout_key.h"
#include "transformer/nn/kernels/random_mask.h"

namespace transformer {

namespace {

class Embedded : public torch::autograd::Function<Embedded> {
 public:
  static torch::Tensor forward(torch::autograd::AutogradContext* context,
                               const torch::Tensor& weight, const torch::Tensor& ids, double scale,
                               const std::optional<torch::Tensor>& table,
                               const torch::Tensor& positions, double p, EmbeddingGradient kind) {
    const uint64_t key = draw_dropout_key(p);
    const RandomMask mask(key, p);
    const int64_t tokens = ids.size(0);
    const int64_t width = weight.size(1);
    const auto* rows = weight.const_data_ptr<float>();
    const auto* id = ids.const_data_ptr<int64_t>();
    const auto* position = positions.const_data_ptr<int64_t>();
    const auto* added = table ? table->const_data_ptr<float>() : nullptr;
    for (int64_t i = 0; i < tokens; ++i) {
      TORCH_CHECK(id[i] >= 0 && id[i] < weight.size(0), "embedding: no row ", id[i], " among ",
                  weight.size(0));
      TORCH_CHECK(!table || position[i] < table->size(0), "embedding: no position ", position[i]);
    }
    auto out = torch::empty({tokens, width}, weight.options());
    auto* to = out.data_ptr<float>();
    const auto factor_of_row = static_cast<float>(scale);
    at::parallel_for(0, tokens, kRowGrain, [&](int64_t begin, int64_t end) {
      vectorized([&]() __attribute__((always_inline)) {
        for (int64_t i = begin; i < end; ++i) {
          for (int64_t j = 0; j < width; j += kLanes) {
            Floats x, y{}, factor;
            load_some(x, rows + id[i] * width + j, width - j);
            if (added != nullptr) load_some(y, added + position[i] * width + j, width - j);
            x = x * factor_of_row + y;
            if (p > 0) {
              mask.factors(i * width + j, factor);
              x *= factor;
            }
            store_some(to + i * width + j, x, width - j);
          }
        }
      });
    });
    context->save_for_backward({ids, positions});
    context->saved_data["key"] = static_cast<int64_t>(key);
    context->saved_data["p"] = p;
    context->saved_data["scale"] = scale;
    context->saved_data["V"] = weight.size(0);
    context->saved_data["table_rows"] = table && table->requires_grad() ? table->size(0) : 0;
    context->saved_data["is_sparse"] = kind == EmbeddingGradient::sparse;
    return out;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 const torch::autograd::variable_list& outer) {
    const auto saved = context->get_saved_variables();
    const auto& ids = saved[0];
    const double p = context->saved_data["p"].toDouble();
    const RandomMask mask(static_cast<uint64_t>(context->saved_data["key"].toInt()), p);
    const auto from = outer[0].contiguous();
    const int64_t width = from.size(1);
    const int64_t table_rows = context->saved_data["table_rows"].toInt();
    torch::Tensor table_gradient;
    auto gradient = p > 0 ? masked_by(from, mask) : from;
    if (table_rows > 0) {
      table_gradient = torch::zeros({table_rows, width}, from.options());
      table_gradient.index_add_(0, saved[1], gradient);
    }
    gradient = gradient * context->saved_data["scale"].toDouble();
    const int64_t V = context->saved_data["V"].toInt();
    torch::Tensor weight_gradient;
    if (context->saved_data["is_sparse"].toBool()) {
      weight_gradient = torch::sparse_coo_tensor(ids.unsqueeze(0), gradient, {V, width});
    } else {
      weight_gradient = torch::zeros({V, width}, from.options());
      weight_gradient.index_add_(0, ids, gradient);
    }
    return {weight_gradient, {}, {}, table_gradient, {}, {}, {}};
  }
};

}  // namespace

torch::Tensor embedded(const torch::Tensor& weight, const torch::Tensor& ids, double scale,
                       const std::optional<torch::Tensor>& table, const torch::Tensor& positions,
                       double p, EmbeddingGradient kind) {
  return Embedded::apply(weight, ids, scale, table, positions, p, kind);
}

}  // namespace transformer
