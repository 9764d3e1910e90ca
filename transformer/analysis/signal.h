#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "transformer/analysis/residual_observation.h"
#include "transformer/nn/model.h"

namespace transformer {

// How the signal goes through the residual stream (section 3.1), and the gradient back, as those
// measure it who compare Post-LN with Pre-LN: Xiong et al. 2020 (norms of gradients and of the
// stream), Liu et al. 2020 (Admin: what a layer's output depends on).

// One residual connection, x and f(x) being its trunk and its branch before dropout. A norm is the
// root mean square over positions of the L2 norm of their vectors.
struct SublayerSignal {
  std::string sublayer;     // its registered name: encoder.layers.0.self_attention
  double trunk = 0;         // norm of x
  double branch = 0;        // norm of f(x)
  double output = 0;        // norm of what the connection returns
  double branch_trunk = 0;  // norm of f(x) / norm of x
  double dependency = 0;    // Admin's: Var[f] / Var[x + f], over all entries
  double gradient_in = 0;   // Frobenius norm of the loss's gradient by W1 and W2 of equation 2;
  double gradient_out = 0;  // 0 but of feed-forward layers

  static void visit(auto& self, auto&& field) {
    field("sublayer", self.sublayer);
    field("trunk", self.trunk);
    field("branch", self.branch);
    field("output", self.output);
    field("branch_trunk", self.branch_trunk);
    field("dependency", self.dependency);
    field("gradient_in", self.gradient_in);
    field("gradient_out", self.gradient_out);
  }
};

// Of one pass, over the positions in `rows` alone where they are given: bool, shaped as what passed
// but for d_model. Without the gradients.
SublayerSignal signal_of(const ResidualObservation::Seen& seen,
                         const std::optional<torch::Tensor>& rows = std::nullopt);

// `loss` runs the model once and returns a scalar with its gradient. In the order of the
// computation, encoder first where there is one. Leaves the model's gradients as the loss made
// them.
std::vector<SublayerSignal> measure_signal(Transformer& model,
                                           const std::function<torch::Tensor()>& loss);

}  // namespace transformer
