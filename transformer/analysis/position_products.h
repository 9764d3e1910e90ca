#pragma once

#include <torch/types.h>

#include <vector>

namespace transformer {

// The dot products PE(pos) · PE(pos + distance) of a table of positions (section 3.5). For
// sinusoids they depend on the distance alone, the sum over pairs of columns of
// cos(distance / 10000^(2i / d_model)), and at distance 0 the square of the norm is d_model / 2.
struct PositionProducts {
  double least = 0;  // over pos
  double mean = 0;
  double most = 0;

  static void visit(auto& self, auto&& field) {
    field("least", self.least);
    field("mean", self.mean);
    field("most", self.most);
  }
};

// table: [length, d_model]. Element i is of distance i, 0 .. length - 1.
std::vector<PositionProducts> position_products(const torch::Tensor& table);

}  // namespace transformer
