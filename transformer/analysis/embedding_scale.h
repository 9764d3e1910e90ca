#pragma once

#include <optional>

#include "transformer/nn/model.h"

namespace transformer {

// Section 3.4: embeddings are multiplied by sqrt(d_model) before their positions are added. Mean L2
// norms over the positions of a batch, as the model was run on it.
struct EmbeddingScale {
  double embedding = 0;  // a row of the table
  double scaled = 0;     // times sqrt(d_model): what enters the first layer, less its position
  double position = 0;   // what is added for the position (section 3.5)
  double sum = 0;        // what enters the first layer

  static void visit(auto& self, auto&& field) {
    field("embedding", self.embedding);
    field("scaled", self.scaled);
    field("position", self.position);
    field("sum", self.sum);
  }
};

struct EmbeddingScales {
  std::optional<EmbeddingScale> source;  // where the model reads one
  EmbeddingScale target;
};

// source, target: [batch, time] int64 without padding.
EmbeddingScales embedding_scales(Transformer& model, const torch::Tensor& source,
                                 const torch::Tensor& target);

}  // namespace transformer
