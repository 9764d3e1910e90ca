#pragma once

// model.norm: all that tells one normalization from another. Configs see these files, so they name
// no tensor library: a formula is a template over the tensor.

#include <array>
#include <stdexcept>

namespace transformer {

// layer: (x - mean) / sqrt(variance + epsilon) (Ba et al. 2016), with a learned gain and bias.
// rms: x / sqrt(mean square + epsilon) (Zhang and Sennrich 2019), with a learned gain.
enum class NormKind { layer, rms };
constexpr auto names(NormKind) { return std::array{"layer", "rms"}; }

// Whether a bias is learned besides the gain.
constexpr bool has_bias(NormKind kind) {
  switch (kind) {
    case NormKind::layer:
      return true;
    case NormKind::rms:
      return false;
  }
  throw std::logic_error("norm without a case");
}

// Before gain and bias. x: [..., d_model]. Returns the same shape.
template <class Tensor>
Tensor normalized(NormKind kind, const Tensor& x, double epsilon) {
  switch (kind) {
    case NormKind::layer: {
      const Tensor centred = x - x.mean(-1, true);
      return centred * (centred.square().mean(-1, true) + epsilon).rsqrt();
    }
    case NormKind::rms:
      return x * (x.square().mean(-1, true) + epsilon).rsqrt();
  }
  throw std::logic_error("norm without a case");
}

}  // namespace transformer
