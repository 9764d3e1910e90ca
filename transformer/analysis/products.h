#pragma once

#include <cstdint>
#include <vector>

#include "transformer/config.h"

namespace transformer {

// [rows, inner] × [inner, columns], as often as `count`. The layouts are those of a linear layer y
// = x W^T: forward, the gradient by x, the gradient by W.
struct Product {
  enum class Layout { forward, by_input, by_weight };
  Layout layout;
  int64_t rows;
  int64_t inner;
  int64_t columns;
  int64_t count = 1;

  double flops() const {
    return 2.0 * static_cast<double>(rows) * static_cast<double>(inner) *
           static_cast<double>(columns) * static_cast<double>(count);
  }
};

// The matrix products of one training step over so many tokens that are done position by position:
// projections, feed-forward layers and output projection, forward and backward. Those within a
// sentence, Q K^T and weights · V, are not among them. Every target word-piece counts as predicted.
// The config is resolved and states V.
std::vector<Product> training_products(const ModelConfig& model, int64_t source_tokens,
                                       int64_t target_tokens);

}  // namespace transformer
