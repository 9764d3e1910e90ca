#include "transformer/nn/scaled_dot_product.h"

#include <cmath>
#include <limits>

#include "transformer/nn/dropout.h"
#include "transformer/nn/shapes.h"

namespace transformer {

namespace {

void check(const torch::Tensor& q, const torch::Tensor& k, const torch::Tensor& v,
           const Mask& mask) {
  expect_shape(q, {kAny, kAny, kAny, kAny}, "attention q");
  expect_shape(k, {q.size(0), kAny, kAny, q.size(3)}, "attention k");
  expect_shape(v, {q.size(0), k.size(1), k.size(2), kAny}, "attention v");
  TORCH_CHECK(q.size(1) % k.size(1) == 0, "attention: ", k.size(1), " key heads do not divide ",
              q.size(1), " query heads");
  TORCH_CHECK(!mask.allowed || mask.allowed->scalar_type() == torch::kBool,
              "attention mask: expected bool, true = may look; got ", mask.allowed->scalar_type());
  TORCH_CHECK(!mask.causal || q.size(2) == k.size(2), "causal attention: ", q.size(2),
              " queries and ", k.size(2), " keys");
  if (mask.bias) expect_shape(*mask.bias, {q.size(1), q.size(2), k.size(2)}, "attention bias");
}

double scale(const torch::Tensor& q) { return 1.0 / std::sqrt(static_cast<double>(q.size(3))); }

torch::Tensor forbidden_to_infinity(const torch::Tensor& scores,
                                    const std::optional<torch::Tensor>& allowed) {
  return allowed
             ? scores.masked_fill(allowed->logical_not(), -std::numeric_limits<double>::infinity())
             : scores;
}

// [batch, kv_heads, time, width] -> [batch, h, time, width]
torch::Tensor repeat_heads(const torch::Tensor& x, int64_t h) {
  return x.size(1) == h ? x : x.repeat_interleave(h / x.size(1), 1);
}

}  // namespace

torch::Tensor scaled_dot_product(const torch::Tensor& q, const torch::Tensor& k,
                                 const torch::Tensor& v, const Mask& mask) {
  check(q, k, v, mask);
  // PyTorch takes a mask, a bias or causality, one of them.
  const bool causal = mask.causal && !mask.allowed && !mask.bias;
  auto allowed = causal ? std::nullopt : mask.combined(q.size(2), q.device());
  if (mask.bias) allowed = forbidden_to_infinity(mask.bias->unsqueeze(0), allowed);
  return at::scaled_dot_product_attention(q, k, v, allowed, /*dropout_p=*/0.0, causal, scale(q),
                                          /*enable_gqa=*/k.size(1) != q.size(1));
}

WeightedValues scaled_dot_product_with_weights(const torch::Tensor& q, const torch::Tensor& k,
                                               const torch::Tensor& v, const Mask& mask,
                                               double attention_drop) {
  check(q, k, v, mask);
  auto scores = (q * scale(q)).matmul(repeat_heads(k, q.size(1)).transpose(2, 3));
  if (mask.bias) scores = scores + *mask.bias;
  scores = forbidden_to_infinity(scores, mask.combined(q.size(2), q.device()));
  const auto precision = q.scalar_type() == torch::kDouble ? torch::kDouble : torch::kFloat;
  const auto weights = at::_safe_softmax(scores, -1, precision).to(q.scalar_type());
  return {drop(weights, attention_drop, /*training=*/true).matmul(repeat_heads(v, q.size(1))),
          weights};
}

}  // namespace transformer
