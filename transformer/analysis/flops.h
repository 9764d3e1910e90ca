#pragma once

#include <cstdint>

#include "transformer/config.h"

namespace transformer {

// Floating-point operations, a multiply-add being two, of the matrix products: projections,
// feed-forward layers, output projection, Q K^T and weights · V. Everything else (embedding
// look-ups, softmax, normalization, dropout, the loss, the optimizer) counts 0. Causal attention
// counts in full, the part that its mask takes away included.

// A batch as it is computed, padding included. Lengths count the end of sentence.
struct BatchShape {
  int64_t sentences = 0;
  int64_t source_length = 0;
  int64_t target_length = 0;
};

// The model applied once: encoder, decoder, and logits at every target position. The config is
// resolved and states V.
double forward_flops(const ModelConfig& model, const BatchShape& batch);

// Forward and backward: the backward pass has two matrix products for each of the forward pass, so
// three times as many.
double training_flops(const ModelConfig& model, const BatchShape& batch);

// One step of decoding: `rows` translations get their next word-piece, of which each has written
// `written` before and reads a source of `source_length`. Keys and values of the source are not in
// it; forward_flops of a batch with target_length 0 has them, and the encoder.
double step_flops(const ModelConfig& model, int64_t rows, int64_t written, int64_t source_length);

// Bytes of a float32 training run at its peak: 16 a parameter (weight, gradient and Adam's two
// moments), 4 for each number that the forward pass keeps for the backward pass, and logits with
// their gradient for 1024 target positions. Kept are, per position and layer: the inputs of each
// projection, feed-forward product and normalization; q, k, v; the attention weights where d_k, d_v
// or attention_drop rule out the fused kernel; and a mask for each dropout. What allocator and
// libraries hold besides is not in it.
double training_memory_bytes(const ModelConfig& model, const BatchShape& batch);

}  // namespace transformer
