#pragma once

// Table 1 of the paper: per-layer complexity, minimum number of sequential operations and maximum
// path length between any two positions, for the layer types that section 4 compares. Orders of
// growth: constants are 1.

#include <array>
#include <optional>

#include "transformer/fields.h"

namespace transformer {

enum class LayerType {
  self_attention,
  recurrent,
  convolutional,
  separable_convolutional,  // section 4's text: k · n · d + n · d²
  restricted_self_attention
};
constexpr auto names(LayerType) {
  return std::array{"self_attention", "recurrent", "convolutional", "separable_convolutional",
                    "restricted_self_attention"};
}

// In the paper's letters. Base's width; n as long as the paper says sentences are shorter than
// that: n < d.
struct LayerSizes {
  int64_t n = 70;   // sequence length
  int64_t d = 512;  // width of the representation
  int64_t k = 3;    // kernel of a convolution
  int64_t r = 16;   // neighbourhood of restricted self-attention

  static void visit(auto& self, auto&& field) {
    field("n", self.n);
    field("d", self.d);
    field("k", self.k);
    field("r", self.r);
  }
};

struct LayerComplexity {
  double operations = 0;  // n² d, n d², k n d², k n d + n d², r n d
  double sequential = 0;  // 1, but n of a recurrent layer
  double path = 0;        // 1, n, log_k n (dilated), log_k n, n / r
  std::optional<double>
      crossing{};  // the n at which self-attention costs as much: d, k d, k + d, r

  static void visit(auto& self, auto&& field) {
    field("operations", self.operations);
    field("sequential", self.sequential);
    field("path", self.path);
    field("crossing", self.crossing);
  }
};

// Sizes from 1; k from 2, since a kernel of 1 joins no two positions.
LayerComplexity layer_complexity(LayerType type, const LayerSizes& sizes);

}  // namespace transformer
