#pragma once

#include <torch/types.h>

namespace transformer {

struct BlockLoss {
  double smoothed = 0;
  double nll = 0;
};

// The label-smoothed cross-entropy of rows of logits, summed over them, and its gradient by the
// logits times `weight` written over them: softmax - eps_ls / V - (1 - eps_ls at the target).
// Without a gradient the logits stay. logits: [rows, V] float32, contiguous, on the CPU; targets:
// [rows] int64.
BlockLoss smoothed_softmax_(const torch::Tensor& logits, const torch::Tensor& targets,
                            double eps_ls, double weight, bool with_gradient);

}  // namespace transformer
