#pragma once

// model.norm_placement: all that tells one residual connection from another.

#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <stdexcept>

namespace transformer {

// f is the sublayer.
// post: LN(x + drop(f(x))), the paper.
// pre: x + drop(f(LN(x))), with a final LN after each stack.
// deepnorm: LN(alpha · x + drop(f(x))), and weights that begin beta times as large (Wang et al.
//   2022), by the depths of the stacks that there are.
// b2t: post, but the last connection of a layer adds what the layer was given, from bottom to top:
//   LN(bottom + x + drop(f(x))) (Takase et al. 2022).
enum class NormPlacement { post, pre, deepnorm, b2t };
constexpr auto names(NormPlacement) { return std::array{"post", "pre", "deepnorm", "b2t"}; }

// Whether a stack ends in a normalization of its own, where no layer has normalized what it
// returns.
constexpr bool ends_in_norm(NormPlacement placement) {
  switch (placement) {
    case NormPlacement::pre:
      return true;
    case NormPlacement::post:
    case NormPlacement::deepnorm:
    case NormPlacement::b2t:
      return false;
  }
  throw std::logic_error("norm placement without a case");
}

enum class Stack { encoder, decoder };
struct Depth {
  double N = 0;  // layers of the encoder; 0 where there is none
  double M = 0;  // layers of the decoder; 0 where there is none
};

struct ResidualScales {
  double trunk = 1;    // alpha: times x
  double weights = 1;  // beta: times what the feed-forward layers', v's and o's weights begin with
};
inline ResidualScales residual_scales(NormPlacement placement, Stack stack, const Depth& depth) {
  switch (placement) {
    case NormPlacement::post:
    case NormPlacement::pre:
    case NormPlacement::b2t:
      return {};
    case NormPlacement::deepnorm:
      if (depth.N == 0 || depth.M == 0) {
        const double alone = depth.N + depth.M;
        return {std::pow(2 * alone, 0.25), std::pow(8 * alone, -0.25)};
      }
      if (stack == Stack::decoder) {
        return {std::pow(3 * depth.M, 0.25), std::pow(12 * depth.M, -0.25)};
      }
      const double both = std::pow(std::pow(depth.N, 4) * depth.M, 1.0 / 16);
      return {0.81 * both, 0.87 / both};
  }
  throw std::logic_error("norm placement without a case");
}

// x: [..., d_model]. `bottom` is what the layer was given, of that shape, where the connection is
// its last. `parts` has sublayer(x), norm(x), sum(x, y) = x + drop(y) and norm_of_sum(x, y) =
// norm(sum(x, y)), which may be faster than the two. Returns the shape of x.
template <class Tensor, class Parts>
Tensor connected(NormPlacement placement, const Tensor& x, const std::optional<Tensor>& bottom,
                 const ResidualScales& scales, const Parts& parts) {
  switch (placement) {
    case NormPlacement::post:
      return parts.norm_of_sum(x, parts.sublayer(x));
    case NormPlacement::pre:
      return parts.sum(x, parts.sublayer(parts.norm(x)));
    case NormPlacement::deepnorm:
      return parts.norm_of_sum(scales.trunk * x, parts.sublayer(x));
    case NormPlacement::b2t:
      return parts.norm_of_sum(bottom ? *bottom + x : x, parts.sublayer(x));
  }
  throw std::logic_error("norm placement without a case");
}

}  // namespace transformer
