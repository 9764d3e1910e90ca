#pragma once

#include <cstdint>

#include "transformer/config.h"

namespace transformer {

// Floating-point operations, a multiply-add being two, of the matrix products: projections,
// feed-forward layers, output projection, Q K^T and weights · V. Everything else (embedding
// look-ups, softmax, normalization, dropout, the loss, the optimizer) counts 0. Causal attention
// counts in full, the part that its mask takes away included.

// A batch as it is computed, padding included. Lengths count the end of sentence. Models that read
// no source have none, whatever its length.
struct BatchShape {
  int64_t sentences = 0;
  int64_t source_length = 0;
  int64_t target_length = 0;
};

// The model applied once: the stacks that it has, and logits at every position of the target that
// is predicted (choices/family.h). The config is resolved and states V.
double forward_flops(const ModelConfig& model, const BatchShape& batch);

// Forward and backward: the backward pass has two matrix products for each of the forward pass, so
// three times as many.
double training_flops(const ModelConfig& model, const BatchShape& batch);

// One step of decoding, of a model that has a decoder: `rows` translations get their next
// word-piece, of which each has written `written` before and reads a source of `source_length`.
// Keys and values of the source are not in it; forward_flops of a batch with target_length 0 has
// them, and the encoder.
double step_flops(const ModelConfig& model, int64_t rows, int64_t written, int64_t source_length);

}  // namespace transformer
