#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "transformer/nn/model.h"

namespace transformer {

// A tensor on the way of a batch through the model (figure 1), or the weights it meets there.
struct ShapedTensor {
  std::string place;           // the registered name of the module, or "source", "logits", ...
  std::string tensor;          // "q", "weights", "output", ...
  std::vector<int64_t> shape;  // as it was run
  int64_t parameters = 0;      // of the module that made it; each trained scalar once over all
};

// Runs the model on the batch and looks at every tensor: inputs and masks, embeddings, and of each
// sublayer queries, keys, values, weights, inner activations and what its residual connection
// returns; memory, where there is one, and logits. The parameters add up to the model's.
std::vector<ShapedTensor> tensor_shapes(Transformer& model, const torch::Tensor& source,
                                        const torch::Tensor& target);

}  // namespace transformer
