#include "transformer/analysis/layer_complexity.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace transformer {

LayerComplexity layer_complexity(LayerType type, const LayerSizes& sizes) {
  const auto n = static_cast<double>(sizes.n);
  const auto d = static_cast<double>(sizes.d);
  const auto k = static_cast<double>(sizes.k);
  const auto r = static_cast<double>(sizes.r);
  const double convolutions = std::max(1.0, std::log(n) / std::log(k));
  switch (type) {
    case LayerType::self_attention:
      return {n * n * d, 1, 1};
    case LayerType::recurrent:
      return {n * d * d, n, n, d};
    case LayerType::convolutional:
      return {k * n * d * d, 1, convolutions, k * d};
    case LayerType::separable_convolutional:
      return {k * n * d + n * d * d, 1, convolutions, k + d};
    case LayerType::restricted_self_attention:
      return {r * n * d, 1, std::max(1.0, n / r), r};
  }
  throw std::logic_error("layer type without a case");
}

}  // namespace transformer
