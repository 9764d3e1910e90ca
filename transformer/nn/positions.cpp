#include "transformer/nn/positions.h"

#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <string>

#include "transformer/error.h"
#include "transformer/nn/shapes.h"

namespace transformer {

torch::Tensor sinusoid_table(PositionKind kind, int64_t length, int64_t d_model) {
  return table_of(kind, angles(torch::arange(length, torch::kDouble).unsqueeze(1),
                               torch::arange(0, d_model, 2, torch::kDouble), d_model));
}

PositionsImpl::PositionsImpl(const ModelConfig& config)
    : kind_(config.positions),
      d_model_(config.d_model),
      max_positions_(config.max_positions),
      table_(torch::empty({0, config.d_model})) {
  if (place_of(kind_) == PositionPlace::learned_table) {
    weight_ = register_parameter("weight", torch::zeros({max_positions_, d_model_}));
  }
}

torch::Tensor PositionsImpl::sinusoids(int64_t length, const torch::TensorOptions& options) {
  const bool fits = table_.size(0) >= length && table_.scalar_type() == options.dtype() &&
                    table_.device() == options.device();
  if (!fits) {
    const c10::InferenceMode off(false);  // training will use the table too
    const int64_t grown = std::max({length, 2 * table_.size(0), int64_t{256}});
    table_ = sinusoid_table(kind_, grown, d_model_).to(options);
  }
  return table_;
}

std::optional<torch::Tensor> PositionsImpl::table(int64_t length,
                                                  const torch::TensorOptions& options) {
  switch (place_of(kind_)) {
    case PositionPlace::table:
      return sinusoids(length, options);
    case PositionPlace::learned_table:
      if (length > max_positions_) {
        throw UserError("model.max_positions: a sentence of " + std::to_string(length) +
                        " word-pieces does not fit into " + std::to_string(max_positions_) +
                        " learned positions; leave out longer sentences (data.max_length) or train "
                        "with a larger model.max_positions");
      }
      return *weight_;
    case PositionPlace::queries_and_keys:
    case PositionPlace::scores:
    case PositionPlace::nowhere:
      return std::nullopt;
  }
  TORCH_INTERNAL_ASSERT(false, "position place without a case");
}

torch::Tensor PositionsImpl::forward(const torch::Tensor& x, int64_t first) {
  expect_shape(x, {kAny, kAny, d_model_}, "positions");
  const int64_t time = x.size(1);
  const auto rows = table(first + time, x.options());
  return rows ? x + rows->narrow(0, first, time) : x;
}

}  // namespace transformer
