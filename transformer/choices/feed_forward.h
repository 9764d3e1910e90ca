#pragma once

// model.feed_forward: all that tells one feed-forward layer from another.

#include <array>
#include <cstdint>
#include <stdexcept>

namespace transformer {

// relu: max(0, x W1 + b1) W2 + b2, equation 2. gelu: the same with x · Phi(x), Phi the normal
// distribution's, for the maximum (Hendrycks and Gimpel 2016).
// Gated ones, (act(x Wg + bg) ⊙ (x W1 + b1)) W2 + b2 (Shazeer 2020): swiglu with act(x) = x ·
// sigmoid(x), geglu with x · Phi(x).
enum class FeedForwardKind { relu, gelu, swiglu, geglu };
constexpr auto names(FeedForwardKind) { return std::array{"relu", "gelu", "swiglu", "geglu"}; }

// stated: the inner width is d_ff. matched: a gated kind takes 2/3 of it, so that its three
// matrices have the parameters of the two that an ungated one has.
enum class FeedForwardWidth { stated, matched };
constexpr auto names(FeedForwardWidth) { return std::array{"stated", "matched"}; }

constexpr bool is_gated(FeedForwardKind kind) {
  switch (kind) {
    case FeedForwardKind::relu:
    case FeedForwardKind::gelu:
      return false;
    case FeedForwardKind::swiglu:
    case FeedForwardKind::geglu:
      return true;
  }
  throw std::logic_error("feed-forward kind without a case");
}

// Tensors of the inner width that are kept for the backward pass.
constexpr int64_t inner_tensors(FeedForwardKind kind) {
  switch (kind) {
    case FeedForwardKind::relu:
      return 1;  // its output tells its slope
    case FeedForwardKind::gelu:
      return 2;
    case FeedForwardKind::swiglu:
    case FeedForwardKind::geglu:
      return 4;  // what is activated, the activation, what it gates, their product
  }
  throw std::logic_error("feed-forward kind without a case");
}

// What max(0, x) is in equation 2. x: [..., inner width], the function's own. Returns the same
// shape.
template <class Tensor>
Tensor activated(FeedForwardKind kind, Tensor x) {
  switch (kind) {
    case FeedForwardKind::relu:
      return x.relu_();
    case FeedForwardKind::gelu:
    case FeedForwardKind::geglu:
      return gelu(x);
    case FeedForwardKind::swiglu:
      return silu(x);
  }
  throw std::logic_error("feed-forward kind without a case");
}

// Of the matrices Wg, W1 and W2, to the nearest integer.
constexpr int64_t inner_width(FeedForwardKind kind, FeedForwardWidth width, int64_t d_ff) {
  return width == FeedForwardWidth::matched && is_gated(kind) ? (2 * d_ff + 1) / 3 : d_ff;
}

}  // namespace transformer
