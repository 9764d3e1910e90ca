#pragma once

#include <cstdint>

namespace transformer {

// Label smoothing (section 5.4) that spreads eps_ls over the V - 1 entries other than the target,
// as tensor2tensor does: the entropy of that target distribution in nats, the least its
// cross-entropy can be. Of our own definition, eps_ls / V on every entry, it is loss_floor
// (train/loss.h).
double floor_over_others(double eps_ls, int64_t V);

}  // namespace transformer
