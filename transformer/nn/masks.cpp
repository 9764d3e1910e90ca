#include "transformer/nn/masks.h"

#include "transformer/nn/shapes.h"

namespace transformer {

torch::Tensor padding_mask(const torch::Tensor& ids, int64_t padding) {
  expect_shape(ids, {kAny, kAny}, "padding mask ids");
  return ids.ne(padding).unsqueeze(1).unsqueeze(1);
}

torch::Tensor causal_mask(int64_t time, const torch::Device& device) {
  return torch::ones({time, time}, torch::dtype(torch::kBool).device(device)).tril();
}

std::optional<torch::Tensor> Mask::combined(int64_t time, const torch::Device& device) const {
  if (!causal) return allowed;
  const auto order = causal_mask(time, device);
  return allowed ? allowed->logical_and(order) : order;
}

}  // namespace transformer
