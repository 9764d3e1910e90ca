#pragma once

#include <string>
#include <vector>

#include "transformer/nn/model.h"

namespace transformer {

// Every residual connection of a model, as it is run while this lives: N · 2 of the encoder and
// N · 3 of the decoder (2 where it is alone) a forward pass (section 3.1), in the order of the
// computation. Costs the memory of what passed; changes no result.
class ResidualObservation {
 public:
  explicit ResidualObservation(Transformer& model);
  ~ResidualObservation();
  ResidualObservation(const ResidualObservation&) = delete;
  ResidualObservation& operator=(const ResidualObservation&) = delete;

  struct Seen {
    std::string sublayer;  // its registered name: encoder.layers.0.self_attention
    ResidualPass pass;
  };
  const std::vector<Seen>& passes() const { return passes_; }

 private:
  Transformer model_;
  std::vector<Seen> passes_;
};

// The layer's number in "encoder.layers.3.self_attention", and what comes after it.
struct SublayerName {
  explicit SublayerName(const std::string& registered);
  std::string stack;     // "encoder"
  int64_t layer = 0;     // from 0, as in the registered names
  std::string sublayer;  // "self_attention"
};

// What the attention of that name looks at, given what passed through its residual connection: the
// encoder's memory where it is the decoder's cross-attention, else its own input, what comes later
// hidden in the decoder (section 3.2.3). `pass`: of the model, when it was observed.
struct AttentionSubject {
  torch::Tensor memory;
  Mask mask;
};
AttentionSubject subject_of(const ResidualObservation::Seen& seen,
                            const TransformerImpl::Pass& pass);

}  // namespace transformer
