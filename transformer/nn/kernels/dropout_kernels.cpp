#include "transformer/nn/kernels/dropout_kernels.h"

#include <ATen/Parallel.h>
#include <torch/torch.h>

#include <algorithm>
#include <cmath>

#include "transformer/nn/kernels/dropout_key.h"
#include "transformer/nn/kernels/random_mask.h"

namespace transformer {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

void keep_mask(AutogradContext* context, uint64_t key, double p) {
  context->saved_data["key"] = static_cast<int64_t>(key);
  context->saved_data["p"] = p;
}
RandomMask kept_mask(AutogradContext* context) {
  return {static_cast<uint64_t>(context->saved_data["key"].toInt()),
          context->saved_data["p"].toDouble()};
}

class Masked : public torch::autograd::Function<Masked> {
 public:
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& x, double p) {
    const uint64_t key = draw_dropout_key(p);
    keep_mask(context, key, p);
    return masked_by(x, {key, p});
  }
  static variable_list backward(AutogradContext* context, const variable_list& outer) {
    return {masked_by(outer[0], kept_mask(context)), {}};
  }
};

class AddMasked : public torch::autograd::Function<AddMasked> {
 public:
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& x,
                               const torch::Tensor& y, double p) {
    const uint64_t key = draw_dropout_key(p);
    keep_mask(context, key, p);
    const auto base = x.contiguous();
    const auto added = y.contiguous();
    auto to = torch::empty_like(base);
    add_masked_to(base.const_data_ptr<float>(), added.const_data_ptr<float>(), {key, p},
                  base.numel(), to.data_ptr<float>());
    return to;
  }
  static variable_list backward(AutogradContext* context, const variable_list& outer) {
    return {outer[0], masked_by(outer[0], kept_mask(context)), {}};
  }
};

// Whether the mean of a row is taken away before it is normalized.
enum class Centring { mean, none };

// One row of normalized_sum: `total` is x + y · mask. y and bias may be null.
struct NormRow {
  float mean;
  float inverse_deviation;
};

template <Centring kCentring>
TRANSFORMER_INLINE void normalize_row(const float* x, const float* y, const RandomMask* mask,
                                      int64_t first, int64_t width, const float* gain,
                                      const float* bias, float epsilon, float* total, float* out,
                                      NormRow& row) {
  Floats sums{};
  for (int64_t j = 0; j < width; j += kLanes) {
    Floats a, b{}, factor;
    load_some(a, x + j, width - j);
    if (y != nullptr) load_some(b, y + j, width - j);
    if (mask != nullptr) {
      mask->factors(first + j, factor);
      b *= factor;
    }
    a += b;
    sums += a;
    store_some(total + j, a, width - j);
  }
  const float mean = kCentring == Centring::mean ? sum(sums) / static_cast<float>(width) : 0.0f;
  Floats squares{};
  for (int64_t j = 0; j < width; j += kLanes) {
    Floats a;
    load_some(a, total + j, width - j);
    a -= mean;
    if (width - j < kLanes) keep_some(a, width - j);
    squares += a * a;
  }
  const float inverse = 1.0f / std::sqrt(sum(squares) / static_cast<float>(width) + epsilon);
  for (int64_t j = 0; j < width; j += kLanes) {
    Floats a, g, b{};
    load_some(a, total + j, width - j);
    load_some(g, gain + j, width - j);
    if (bias != nullptr) load_some(b, bias + j, width - j);
    store_some(out + j, (a - mean) * inverse * g + b, width - j);
  }
  row = {mean, inverse};
}

// Adds to gain_gradient and bias_gradient.
template <Centring kCentring>
TRANSFORMER_INLINE void normalize_row_backward(const float* outer, const float* total,
                                               const NormRow& row, const RandomMask* mask,
                                               int64_t first, int64_t width, const float* gain,
                                               float* x_gradient, float* y_gradient,
                                               float* gain_gradient, float* bias_gradient) {
  Floats sums{}, products{};
  for (int64_t j = 0; j < width; j += kLanes) {
    Floats g, s, w, to_gain, to_bias;
    load_some(g, outer + j, width - j);
    load_some(s, total + j, width - j);
    load_some(w, gain + j, width - j);
    const Floats unit = (s - row.mean) * row.inverse_deviation;
    load_some(to_gain, gain_gradient + j, width - j);
    load_some(to_bias, bias_gradient + j, width - j);
    store_some(gain_gradient + j, to_gain + g * unit, width - j);
    store_some(bias_gradient + j, to_bias + g, width - j);
    sums += g * w;
    products += g * w * unit;
  }
  const float mean = kCentring == Centring::mean ? sum(sums) / static_cast<float>(width) : 0.0f;
  const float slope = sum(products) / static_cast<float>(width);
  for (int64_t j = 0; j < width; j += kLanes) {
    Floats g, s, w, factor;
    load_some(g, outer + j, width - j);
    load_some(s, total + j, width - j);
    load_some(w, gain + j, width - j);
    const Floats unit = (s - row.mean) * row.inverse_deviation;
    const Floats d = (g * w - mean - unit * slope) * row.inverse_deviation;
    store_some(x_gradient + j, d, width - j);
    if (mask != nullptr) {
      mask->factors(first + j, factor);
      store_some(y_gradient + j, d * factor, width - j);
    }
  }
}

template <Centring kCentring>
class NormalizedSum : public torch::autograd::Function<NormalizedSum<kCentring>> {
 public:
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& x_rows,
                               const std::optional<torch::Tensor>& y_rows, double p,
                               const torch::Tensor& gain, const std::optional<torch::Tensor>& bias,
                               double epsilon) {
    const uint64_t key = draw_dropout_key(p);
    keep_mask(context, key, p);
    const auto x = x_rows.contiguous();
    const auto y = y_rows ? y_rows->contiguous() : torch::Tensor();
    const int64_t width = x.size(-1);
    const int64_t rows = x.numel() / width;
    auto total = torch::empty_like(x);
    auto out = torch::empty_like(x);
    auto moments = torch::empty({rows, 2}, x.options());
    const RandomMask mask(key, p);
    const auto* from_x = x.const_data_ptr<float>();
    const auto* from_y = y_rows ? y.const_data_ptr<float>() : nullptr;
    const auto* g = gain.const_data_ptr<float>();
    const auto* b = bias ? bias->const_data_ptr<float>() : nullptr;
    auto* sums = total.data_ptr<float>();
    auto* to = out.data_ptr<float>();
    auto* kept = moments.data_ptr<float>();
    at::parallel_for(0, rows, kRowGrain, [&](int64_t begin, int64_t end) {
      vectorized([&]() __attribute__((always_inline)) {
        for (int64_t i = begin; i < end; ++i) {
          NormRow row;
          normalize_row<kCentring>(
              from_x + i * width, from_y == nullptr ? nullptr : from_y + i * width,
              p > 0 ? &mask : nullptr, i * width, width, g, b, static_cast<float>(epsilon),
              sums + i * width, to + i * width, row);
          kept[2 * i] = row.mean;
          kept[2 * i + 1] = row.inverse_deviation;
        }
      });
    });
    context->save_for_backward({total, moments, gain});
    context->saved_data["has_y"] = y_rows.has_value();
    context->saved_data["has_bias"] = bias.has_value();
    return out;
  }

  static variable_list backward(AutogradContext* context, const variable_list& outer) {
    const auto saved = context->get_saved_variables();
    const auto& total = saved[0];
    const auto& gain = saved[2];
    const auto outer_rows = outer[0].contiguous();
    const bool has_mask = context->saved_data["p"].toDouble() > 0;
    const RandomMask mask = kept_mask(context);
    const int64_t width = total.size(-1);
    const int64_t rows = total.numel() / width;
    auto x_gradient = torch::empty_like(total);
    auto y_gradient = has_mask ? torch::empty_like(total) : x_gradient;
    const int64_t parts = std::clamp<int64_t>(rows / kRowGrain, 1, at::get_num_threads());
    auto partial = torch::zeros({parts, 2, width}, total.options());
    const auto* from = outer_rows.const_data_ptr<float>();
    const auto* sums = total.const_data_ptr<float>();
    const auto* moments = saved[1].const_data_ptr<float>();
    const auto* g = gain.const_data_ptr<float>();
    auto* to_x = x_gradient.data_ptr<float>();
    auto* to_y = y_gradient.data_ptr<float>();
    auto* to_partial = partial.data_ptr<float>();
    at::parallel_for(0, parts, 1, [&](int64_t begin, int64_t end) {
      vectorized([&]() __attribute__((always_inline)) {
        for (int64_t part = begin; part < end; ++part) {
          float* to_gain = to_partial + part * 2 * width;
          for (int64_t i = rows * part / parts; i < rows * (part + 1) / parts; ++i) {
            normalize_row_backward<kCentring>(
                from + i * width, sums + i * width, {moments[2 * i], moments[2 * i + 1]},
                has_mask ? &mask : nullptr, i * width, width, g, to_x + i * width, to_y + i * width,
                to_gain, to_gain + width);
          }
        }
      });
    });
    const auto gradients = parts == 1 ? partial.select(0, 0) : partial.sum(0);
    return {x_gradient,
            context->saved_data["has_y"].toBool() ? y_gradient : torch::Tensor(),
            {},
            gradients[0],
            context->saved_data["has_bias"].toBool() ? gradients[1] : torch::Tensor(),
            {}};
  }
};

}  // namespace

torch::Tensor masked(const torch::Tensor& x, double p) { return Masked::apply(x, p); }

torch::Tensor add_masked(const torch::Tensor& x, const torch::Tensor& y, double p) {
  return AddMasked::apply(x, y, p);
}

torch::Tensor normalized_sum(const torch::Tensor& x, const torch::Tensor& y, double p,
                             const torch::Tensor& gain, const torch::Tensor& bias, double epsilon) {
  return NormalizedSum<Centring::mean>::apply(x, y, p, gain, bias, epsilon);
}

torch::Tensor rms_normalized_sum(const torch::Tensor& x, const std::optional<torch::Tensor>& y,
                                 double p, const torch::Tensor& gain, double epsilon) {
  return NormalizedSum<Centring::none>::apply(x, y, y ? p : 0.0, gain,
                                              std::optional<torch::Tensor>(), epsilon);
}

}  // namespace transformer
