#pragma once

#include <torch/types.h>

#include <cstdint>

#include "transformer/nn/kernels/panel_matrix.h"

namespace transformer {

// Equation 1 for one query a row, [rows, h, 1, d_k], over keys and values that are read where they
// stand. kv_heads divides h. Both return [rows, h, 1, d_v].

// keys, values: [room, slots, kv_heads, width]; position i of row r stands at [i, slots[r][i]].
// slots: [rows, room] int64.
torch::Tensor attend_slots(const CpuKernels& kernels, const torch::Tensor& q,
                           const torch::Tensor& keys, const torch::Tensor& values,
                           const torch::Tensor& slots, int64_t length);

// keys, values: [sentences, kv_heads, time, width]; group g, of rows / groups rows, looks at what
// `mask`, [sentences, 1, 1, time] bool, allows of sentence groups[g]. A sentence that allows
// nothing gives zeros.
torch::Tensor attend_sentences(const CpuKernels& kernels, const torch::Tensor& q,
                               const torch::Tensor& keys, const torch::Tensor& values,
                               const torch::Tensor& mask, const torch::Tensor& groups);

}  // namespace transformer
