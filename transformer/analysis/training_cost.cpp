#include "transformer/analysis/training_cost.h"

namespace transformer {

double cost_by_time(double seconds, double devices, double flops_per_second) {
  return seconds * devices * flops_per_second;
}

double training_seconds(double flops, double devices, double flops_per_second, double utilisation) {
  return flops / (devices * flops_per_second * utilisation);
}

}  // namespace transformer
