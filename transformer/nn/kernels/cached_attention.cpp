#include "transformer/nn/kernels/cached_attention.h"

#include <ATen/Parallel.h>

#include <cmath>
#include <vector>

#include "transformer/nn/kernels/cpu_kernels.h"

namespace transformer {

namespace {

constexpr int64_t kVector = 16;  // the widest of the kernels'

// Rows are worth a thread from some ten microseconds of work.
int64_t rows_of_a_thread(const torch::Tensor& q, int64_t positions) {
  constexpr int64_t kWorth = 1 << 16;
  return std::max<int64_t>(1, kWorth / std::max<int64_t>(1, q.size(1) * q.size(3) * 2 * positions));
}

// Where a thread keeps what one row looks at.
struct Scratch {
  explicit Scratch(int64_t positions, int64_t d_k)
      : weights(static_cast<size_t>(positions + kVector)),
        query(static_cast<size_t>(d_k)),
        key_offsets(static_cast<size_t>(positions)),
        value_offsets(static_cast<size_t>(positions)) {}
  std::vector<float> weights;
  std::vector<float> query;
  std::vector<int64_t> key_offsets;
  std::vector<int64_t> value_offsets;
};

// All heads of one row. A key head's keys start `key_step` behind those of the one before.
void attend_row(const CpuKernels& kernels, Lookup lookup, Scratch& scratch, const float* q,
                int64_t h, int64_t kv_heads, int64_t key_step, int64_t value_step) {
  const auto scale = static_cast<float>(1.0 / std::sqrt(static_cast<double>(lookup.d_k)));
  const float* keys = lookup.keys;
  const float* values = lookup.values;
  lookup.q = scratch.query.data();
  lookup.key_offsets = scratch.key_offsets.data();
  lookup.value_offsets = scratch.value_offsets.data();
  lookup.weights = scratch.weights.data();
  for (int64_t head = 0; head < h; ++head) {
    for (int64_t d = 0; d < lookup.d_k; ++d) {
      scratch.query[static_cast<size_t>(d)] = q[head * lookup.d_k + d] * scale;
    }
    const int64_t shared = head * kv_heads / h;
    lookup.keys = keys + shared * key_step;
    lookup.values = values + shared * value_step;
    kernels.attend(lookup);
    lookup.out += lookup.d_v;
  }
}

}  // namespace

torch::Tensor attend_slots(const CpuKernels& kernels, const torch::Tensor& q,
                           const torch::Tensor& keys, const torch::Tensor& values,
                           const torch::Tensor& slots, int64_t length) {
  const auto queries = q.contiguous();
  const int64_t rows = q.size(0), h = q.size(1), kv_heads = keys.size(2);
  const int64_t d_k = keys.size(3), d_v = values.size(3), all_slots = keys.size(1);
  auto out = at::empty({rows, h, 1, d_v}, q.options());
  const auto* from = slots.const_data_ptr<int64_t>();
  at::parallel_for(0, rows, rows_of_a_thread(q, length), [&](int64_t first, int64_t last) {
    Scratch scratch(length, d_k);
    for (int64_t row = first; row < last; ++row) {
      for (int64_t i = 0; i < length; ++i) {
        const int64_t place = i * all_slots + from[row * slots.size(1) + i];
        scratch.key_offsets[static_cast<size_t>(i)] = place * kv_heads * d_k;
        scratch.value_offsets[static_cast<size_t>(i)] = place * kv_heads * d_v;
      }
      const Lookup lookup{nullptr,
                          keys.const_data_ptr<float>(),
                          values.const_data_ptr<float>(),
                          nullptr,
                          nullptr,
                          length,
                          d_k,
                          d_v,
                          nullptr,
                          out.mutable_data_ptr<float>() + row * h * d_v};
      attend_row(kernels, lookup, scratch, queries.const_data_ptr<float>() + row * h * d_k, h,
                 kv_heads, d_k, d_v);
    }
  });
  return out;
}

torch::Tensor attend_sentences(const CpuKernels& kernels, const torch::Tensor& q,
                               const torch::Tensor& keys, const torch::Tensor& values,
                               const torch::Tensor& mask, const torch::Tensor& groups) {
  const auto queries = q.contiguous();
  const int64_t rows = q.size(0), h = q.size(1), kv_heads = keys.size(1), time = keys.size(2);
  const int64_t d_k = keys.size(3), d_v = values.size(3), beam = rows / groups.size(0);
  auto out = at::empty({rows, h, 1, d_v}, q.options());
  const auto* sentence_of = groups.const_data_ptr<int64_t>();
  const auto* allowed = mask.const_data_ptr<bool>();
  at::parallel_for(0, rows, rows_of_a_thread(q, time), [&](int64_t first, int64_t last) {
    Scratch scratch(time, d_k);
    int64_t known = -1, positions = 0;  // the sentence whose positions stand in scratch
    for (int64_t row = first; row < last; ++row) {
      const int64_t sentence = sentence_of[row / beam];
      if (sentence != known) {
        known = sentence;
        positions = 0;
        for (int64_t i = 0; i < time; ++i) {
          if (!allowed[sentence * time + i]) continue;
          scratch.key_offsets[static_cast<size_t>(positions)] = i * d_k;
          scratch.value_offsets[static_cast<size_t>(positions)] = i * d_v;
          ++positions;
        }
      }
      const Lookup lookup{nullptr,
                          keys.const_data_ptr<float>() + sentence * kv_heads * time * d_k,
                          values.const_data_ptr<float>() + sentence * kv_heads * time * d_v,
                          nullptr,
                          nullptr,
                          positions,
                          d_k,
                          d_v,
                          nullptr,
                          out.mutable_data_ptr<float>() + row * h * d_v};
      attend_row(kernels, lookup, scratch, queries.const_data_ptr<float>() + row * h * d_k, h,
                 kv_heads, time * d_k, time * d_v);
    }
  });
  return out;
}

}  // namespace transformer
