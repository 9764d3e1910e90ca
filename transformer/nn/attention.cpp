#include "transformer/nn/attention.h"

#include <ATen/record_function.h>

#include "transformer/nn/kernels/packed_attention.h"
#include "transformer/nn/scaled_dot_product.h"
#include "transformer/nn/shapes.h"

namespace transformer {

namespace {

// [batch, time, heads * width] -> [batch, heads, time, width]
torch::Tensor split_heads(const torch::Tensor& x, int64_t heads) {
  return x.view({x.size(0), x.size(1), heads, x.size(2) / heads}).transpose(1, 2);
}

// Several projections of the same rows as one product, their columns side by side.
torch::Tensor project_together(const torch::Tensor& x, const std::vector<Projection>& projections) {
  std::vector<torch::Tensor> weights, biases;
  for (const auto& projection : projections) {
    weights.push_back(projection->weight);
    if (projection->bias.defined()) biases.push_back(projection->bias);
  }
  return at::linear(x, at::cat(weights),
                    biases.empty() ? std::nullopt : std::optional(at::cat(biases)));
}

}  // namespace

MultiHeadAttentionImpl::MultiHeadAttentionImpl(const ModelConfig& config, AttentionKind kind)
    : d_model_(config.d_model),
      h_(config.h),
      kv_heads_(config.kv_heads),
      d_k_(config.d_k),
      d_v_(config.d_v),
      attention_drop_(config.attention_drop),
      q_(register_module("q", Projection(d_model_, h_ * config.d_k, config.attention_bias))),
      k_(register_module("k", Projection(d_model_, kv_heads_ * config.d_k, config.attention_bias))),
      v_(register_module("v", Projection(d_model_, kv_heads_ * config.d_v, config.attention_bias))),
      o_(register_module("o", Projection(h_ * config.d_v, d_model_, config.attention_bias))) {
  if (kind == AttentionKind::self) positions_.emplace(config);
}

torch::Tensor MultiHeadAttentionImpl::queries(const torch::Tensor& query, int64_t first) {
  expect_shape(query, {kAny, kAny, d_model_}, "attention query");
  const auto q = split_heads(q_(query), h_);
  return positions_ ? positions_->turn(q, first) : q;
}

KeysValues MultiHeadAttentionImpl::keys_values(const torch::Tensor& memory, int64_t first) {
  expect_shape(memory, {kAny, kAny, d_model_}, "attention memory");
  const auto k = split_heads(k_(memory), kv_heads_);
  return {positions_ ? positions_->turn(k, first) : k, split_heads(v_(memory), kv_heads_)};
}

std::optional<torch::Tensor> MultiHeadAttentionImpl::score_bias(
    int64_t q_time, int64_t k_time, const torch::TensorOptions& options) const {
  return positions_ ? positions_->bias(q_time, k_time, options) : std::nullopt;
}

Mask MultiHeadAttentionImpl::biased(Mask mask, const torch::Tensor& q,
                                    const torch::Tensor& k) const {
  mask.bias = score_bias(q.size(2), k.size(2), q.options());
  return mask;
}

torch::Tensor MultiHeadAttentionImpl::merge_heads(const torch::Tensor& heads) {
  return o_(
      heads.transpose(1, 2).flatten(2));  // [batch, q_time, h * d_v] -> [batch, q_time, d_model]
}

torch::Tensor MultiHeadAttentionImpl::attend(const torch::Tensor& query, const KeysValues& memory,
                                             const Mask& mask) {
  const auto q = queries(query);
  const auto& [k, v] = memory;
  const auto full = biased(mask, q, k);
  // The fused kernel has no dropout.
  if (is_training() && attention_drop_ > 0) {
    return merge_heads(scaled_dot_product_with_weights(q, k, v, full, attention_drop_).values);
  }
  return merge_heads(scaled_dot_product(q, k, v, full));
}

torch::Tensor MultiHeadAttentionImpl::attend_packed(const torch::Tensor& query,
                                                    const torch::Tensor& memory, const Mask& mask) {
  expect_shape(query, {kAny, d_model_}, "attention query");
  expect_shape(memory, {kAny, d_model_}, "attention memory");
  const HeadSizes sizes{h_, kv_heads_, d_k_, d_v_};
  if (query.is_same(memory)) {
    auto qkv = project_together(query, {q_, k_, v_});
    if (!positions_) return o_(packed_self_attention(qkv, *mask.query_starts, sizes, mask.causal));
    if (positions_->acts_on_queries_and_keys()) {
      const int64_t heads = h_ + kv_heads_;
      const auto qk = qkv.narrow(1, 0, heads * d_k_).unflatten(1, {heads, d_k_});
      qkv = at::cat({positions_->turn_packed(qk, *mask.query_starts).flatten(1),
                     qkv.narrow(1, heads * d_k_, kv_heads_ * d_v_)},
                    1);
    }
    return o_(
        packed_self_attention(qkv, *mask.query_starts, sizes, mask.causal, positions_->slopes()));
  }
  TORCH_CHECK(!mask.causal, "packed attention: causal where queries and keys differ");
  return o_(packed_cross_attention(q_(query), project_together(memory, {k_, v_}),
                                   *mask.query_starts, *mask.key_starts, sizes));
}

torch::Tensor MultiHeadAttentionImpl::forward(const torch::Tensor& query,
                                              const torch::Tensor& memory, const Mask& mask) {
  RECORD_USER_SCOPE("attention");
  if (mask.is_packed()) return attend_packed(query, memory, mask);
  return attend(query, keys_values(memory), mask);
}

MultiHeadAttentionImpl::Output MultiHeadAttentionImpl::forward_with_weights(
    const torch::Tensor& query, const torch::Tensor& memory, const Mask& mask) {
  const auto [k, v] = keys_values(memory);
  const auto q = queries(query);
  const auto heads = scaled_dot_product_with_weights(q, k, v, biased(mask, q, k),
                                                     is_training() ? attention_drop_ : 0.0);
  return {merge_heads(heads.values), heads.weights};
}

}  // namespace transformer
