#pragma once

#include <torch/types.h>

#include <cstdint>
#include <optional>

namespace transformer {

// Dropout with what stands around it, in one pass over memory and without a stored mask: the
// mask of each is a function of a key drawn from the default generator. On the CPU, in float32;
// all take contiguous or strided tensors and return contiguous ones.

// x · mask. Any shape.
torch::Tensor masked(const torch::Tensor& x, double p);

// x + y · mask, both of one shape.
torch::Tensor add_masked(const torch::Tensor& x, const torch::Tensor& y, double p);

// gain · (s - mean) / sqrt(variance + epsilon) + bias with s = x + y · mask, over the last
// dimension; gain and bias have its size.
torch::Tensor normalized_sum(const torch::Tensor& x, const torch::Tensor& y, double p,
                             const torch::Tensor& gain, const torch::Tensor& bias, double epsilon);

// gain · s / sqrt(mean of s² + epsilon), the same s; x alone where there is no y.
torch::Tensor rms_normalized_sum(const torch::Tensor& x, const std::optional<torch::Tensor>& y,
                                 double p, const torch::Tensor& gain, double epsilon);

}  // namespace transformer
