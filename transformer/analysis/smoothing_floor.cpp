#include "transformer/analysis/smoothing_floor.h"

#include <cmath>

namespace transformer {

double floor_over_others(double eps_ls, int64_t V) {
  if (eps_ls == 0) return 0;
  const double target = 1 - eps_ls;
  return -(target * std::log(target) + eps_ls * std::log(eps_ls / static_cast<double>(V - 1)));
}

}  // namespace transformer
