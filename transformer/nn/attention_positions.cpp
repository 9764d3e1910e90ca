#include "transformer/nn/attention_positions.h"

#include <c10/core/InferenceMode.h>

#include <algorithm>

namespace transformer {

AttentionPositions::AttentionPositions(const ModelConfig& config)
    : place_(place_of(config.positions)), d_k_(config.d_k) {
  if (place_ != PositionPlace::scores) return;
  for (int64_t head = 0; head < config.h; ++head) {
    slopes_.push_back(distance_slope(head, config.h));
  }
}

const AttentionPositions::Angles& AttentionPositions::angles_up_to(
    int64_t length, const torch::TensorOptions& options) {
  const auto& known = angles_.cosine;
  const bool fits = known.defined() && known.size(0) >= length &&
                    known.scalar_type() == options.dtype() && known.device() == options.device();
  if (!fits) {
    const c10::InferenceMode off(false);  // training will use them too
    const int64_t grown = std::max({length, known.defined() ? 2 * known.size(0) : 0, int64_t{256}});
    const auto angle = angles(torch::arange(grown, torch::kDouble).unsqueeze(1),
                              torch::arange(0, d_k_, 2, torch::kDouble), d_k_);
    angles_ = {angle.cos().to(options), angle.sin().to(options)};
  }
  return angles_;
}

torch::Tensor AttentionPositions::turn(const torch::Tensor& x, int64_t first) {
  if (!acts_on_queries_and_keys()) return x;
  const int64_t time = x.size(2);
  const auto& [cosine, sine] = angles_up_to(first + time, x.options());
  return turned(x, cosine.narrow(0, first, time), sine.narrow(0, first, time));
}

torch::Tensor AttentionPositions::turn_packed(const torch::Tensor& x, const Starts& starts) {
  if (!acts_on_queries_and_keys()) return x;
  auto places = torch::empty({x.size(0)}, torch::kLong);
  auto* place = places.data_ptr<int64_t>();
  int64_t longest = 0;
  for (size_t i = 1; i < starts.size(); ++i) {
    const int64_t length = starts[i] - starts[i - 1];
    for (int64_t position = 0; position < length; ++position) *place++ = position;
    longest = std::max(longest, length);
  }
  places = places.to(x.device());
  const auto& [cosine, sine] = angles_up_to(longest, x.options());
  const auto of = [&](const torch::Tensor& rows) {
    return rows.index_select(0, places).unsqueeze(1);  // [tokens, 1, d_k / 2]
  };
  return turned(x, of(cosine), of(sine));
}

std::optional<torch::Tensor> AttentionPositions::bias(int64_t q_time, int64_t k_time,
                                                      const torch::TensorOptions& options) const {
  if (slopes_.empty()) return std::nullopt;
  const auto exact = options.dtype(torch::kDouble);
  const auto queries = torch::arange(k_time - q_time, k_time, exact).unsqueeze(1);
  const auto distance = (queries - torch::arange(k_time, exact)).abs();  // [q_time, k_time]
  const auto slope = torch::tensor(slopes_, exact).view({-1, 1, 1});
  return (-slope * distance).to(options);
}

}  // namespace transformer
