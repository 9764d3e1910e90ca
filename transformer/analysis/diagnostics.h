#pragma once

#include <string>
#include <vector>

#include "transformer/analysis/signal.h"

namespace transformer {

// A weight matrix of a sublayer at a training step.
struct WeightDiagnostics {
  std::string name;          // within the sublayer: in.weight, q.weight
  double gradient = 0;       // Frobenius norm of the loss's gradient, before clipping
  double update_weight = 0;  // norm of the step's change / norm of the weight before it
};

// A residual connection and its sublayer at a training step.
struct SublayerDiagnostics {
  SublayerSignal signal;
  std::vector<double> attention_entropy;   // nats, of each head; empty for feed-forward layers
  std::vector<WeightDiagnostics> weights;  // in the order of their registration
};

// Looks at a training step when its gradients are there and its update is yet to come. Signal and
// entropy are those of the model applied once more to a part of the step's batch, without dropout;
// gradients are the step's own. Changes no result.
class StepDiagnosis {
 public:
  // source, target: [batch, source_time], [batch, target_time] int64, what the model reads, padded
  // at the right with 0. Of them it takes as many sentences from the front as have at most
  // kMostTokens positions on a side, one at least. Leaves the model in training mode.
  StepDiagnosis(Transformer& model, const torch::Tensor& source, const torch::Tensor& target);
  static constexpr int64_t kMostTokens = 2048;

  // Of every residual connection, in the order of the computation. Once the step was applied.
  std::vector<SublayerDiagnostics> after_update() const;

 private:
  struct Before {
    size_t sublayer = 0;  // index in sublayers_
    size_t weight = 0;    // index in its weights
    torch::Tensor now;    // the parameter itself
    torch::Tensor then;   // as it was
  };

  std::vector<SublayerDiagnostics> sublayers_;
  std::vector<Before> before_;
};

}  // namespace transformer
