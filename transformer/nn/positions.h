#pragma once

#include <torch/nn/module.h>
#include <torch/nn/pimpl.h>
#include <torch/types.h>

#include <optional>

#include "transformer/config.h"

namespace transformer {

// Section 3.5, in double: PE(pos, 2i) = sin(pos / 10000^(2i / d_model)) and PE(pos, 2i + 1) its
// cosine; where `kind` is sinusoidal_concatenated, sine i in column i and cosine i in column
// d_model / 2 + i. Returns [length, d_model].
torch::Tensor sinusoid_table(PositionKind kind, int64_t length, int64_t d_model);

// Adds to each embedding what says where it stands; nothing where that is said within attention
// (attention_positions.h).
class PositionsImpl : public torch::nn::Module {
 public:
  explicit PositionsImpl(const ModelConfig& config);
  // x: [batch, time, d_model], standing at positions first .. first + time - 1. Returns the same
  // shape. Throws UserError where that is beyond a learned table.
  torch::Tensor forward(const torch::Tensor& x, int64_t first = 0);

  // What forward adds at positions 0 .. length - 1, [length at least, d_model]; nothing where
  // positions act elsewhere, or nowhere. Throws as forward does.
  std::optional<torch::Tensor> table(int64_t length, const torch::TensorOptions& options);

 private:
  torch::Tensor sinusoids(int64_t length, const torch::TensorOptions& options);

  PositionKind kind_;
  int64_t d_model_;
  int64_t max_positions_;
  std::optional<torch::Tensor> weight_;  // [max_positions, d_model], learned only
  torch::Tensor table_;  // sinusoids made so far; follows from the config, so not state
};
TORCH_MODULE(Positions);

}  // namespace transformer
