#include "transformer/analysis/products.h"

namespace transformer {

namespace {

void add_linear(std::vector<Product>& products, int64_t rows, int64_t inner, int64_t columns,
                int64_t count) {
  products.push_back({Product::Layout::forward, rows, inner, columns, count});
  products.push_back({Product::Layout::by_input, rows, columns, inner, count});
  products.push_back({Product::Layout::by_weight, columns, rows, inner, count});
}

void add_attention(std::vector<Product>& products, const ModelConfig& model, int64_t queries,
                   int64_t keys) {
  const int64_t N = model.N;
  add_linear(products, queries, model.d_model, model.h * model.d_k, N);
  add_linear(products, keys, model.d_model, model.kv_heads * model.d_k, N);
  add_linear(products, keys, model.d_model, model.kv_heads * model.d_v, N);
  add_linear(products, queries, model.h * model.d_v, model.d_model, N);
}

void add_feed_forward(std::vector<Product>& products, const ModelConfig& model, int64_t tokens) {
  const int64_t inner = model.inner_width();
  const int64_t into = is_gated(model.feed_forward) ? 2 : 1;
  add_linear(products, tokens, model.d_model, inner, into * model.N);
  add_linear(products, tokens, inner, model.d_model, model.N);
}

}  // namespace

std::vector<Product> training_products(const ModelConfig& model, int64_t source_tokens,
                                       int64_t target_tokens) {
  std::vector<Product> products;
  if (reads_source(model.family)) {
    add_attention(products, model, source_tokens, source_tokens);
    add_feed_forward(products, model, source_tokens);
    add_attention(products, model, target_tokens, source_tokens);
  }
  add_attention(products, model, target_tokens, target_tokens);
  add_feed_forward(products, model, target_tokens);
  add_linear(products, target_tokens, model.d_model, model.V, 1);
  return products;
}

}  // namespace transformer
