#include "transformer/nn/kernels/packed_attention.h"

#include <ATen/Parallel.h>
#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "transformer/nn/kernels/exponential.h"
#include "transformer/nn/kernels/small_product.h"

namespace transformer {

namespace {

constexpr int64_t kQueries = 64;  // a block of them

int64_t padded_to_lanes(int64_t width) { return (width + kLanes - 1) / kLanes * kLanes; }

// Columns `first` .. `first + width - 1` of rows `begin` .. `end - 1`, as one head has them.
struct Head {
  float* data;
  int64_t row;  // distance of two rows
  int64_t width;
};

Head head_of(const torch::Tensor& rows, int64_t first_column, int64_t index, int64_t width) {
  return {rows.data_ptr<float>() + first_column + index * width, rows.stride(0), width};
}

// to[i, 0 .. padded) = factor * head row i, 0 behind its width.
TRANSFORMER_INLINE void gather(const Head& head, int64_t begin, int64_t count, float factor,
                               float* to, int64_t padded) {
  for (int64_t i = 0; i < count; ++i) {
    const float* from = head.data + (begin + i) * head.row;
    for (int64_t j = 0; j < padded; j += kLanes) {
      Floats x;
      load_some(x, from + j, head.width - j);
      store(to + i * padded + j, x * factor);
    }
  }
}

// to[j, i] = head row begin + i, column j; rows of `to` are `to_row` apart, and 0 behind `count`.
TRANSFORMER_INLINE void gather_transposed(const Head& head, int64_t begin, int64_t count, float* to,
                                          int64_t to_row) {
  for (int64_t i = 0; i < count; i += kLanes) {
    const int64_t rows = std::min(kLanes, count - i);
    for (int64_t j = 0; j < head.width; j += kLanes) {
      Floats square[kLanes];
      for (int64_t r = 0; r < kLanes; ++r) {
        if (r < rows) {
          load_some(square[r], head.data + (begin + i + r) * head.row + j, head.width - j);
        } else {
          square[r] = Floats{};
        }
      }
      transpose_square(square);
      for (int64_t r = 0; r < std::min(kLanes, head.width - j); ++r) {
        store(to + (j + r) * to_row + i, square[r]);
      }
    }
  }
}

TRANSFORMER_INLINE void add_to(const float* from, int64_t padded, int64_t count, const Head& head,
                               int64_t begin) {
  for (int64_t i = 0; i < count; ++i) {
    float* to = head.data + (begin + i) * head.row;
    for (int64_t j = 0; j < head.width; j += kLanes) {
      const int64_t lanes = head.width - j;
      Floats sum, x;
      load_some(sum, to + j, lanes);
      load(x, from + i * padded + j);
      store_some(to + j, sum + x, lanes);
    }
  }
}

// What a thread works in, grown and kept.
struct Workspace {
  std::vector<float> memory;
  // Pieces of the sizes asked for, each on whole vectors.
  template <size_t n>
  std::array<float*, n> pieces(const std::array<int64_t, n>& sizes) {
    int64_t total = 0;
    for (const int64_t size : sizes) total += padded_to_lanes(size);
    if (std::ssize(memory) < total) memory.resize(static_cast<size_t>(total));
    std::array<float*, n> pieces;
    float* next = memory.data();
    for (size_t i = 0; i < n; ++i) {
      pieces[i] = next;
      next += padded_to_lanes(sizes[i]);
    }
    return pieces;
  }
};
thread_local Workspace workspace;

// One sentence under one head.
struct Rows {
  int64_t q_begin, q_count, k_begin, k_count;
  bool causal;
  float slope = 0;  // of the head, by which scores fall with the distance
  // Keys that queries first .. first + count - 1 may look at.
  int64_t keys(int64_t first, int64_t count) const {
    return causal ? std::min(k_count, first + count) : k_count;
  }
};

// Takes slope · |query - j| away from scores[j], j below `row`.
TRANSFORMER_INLINE void fall_with_distance(float* scores, int64_t row, int64_t query, float slope) {
  constexpr Floats kLane = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  for (int64_t j = 0; j < row; j += kLanes) {
    Floats x;
    load(x, scores + j);
    const Floats ahead = kLane + static_cast<float>(j - query);
    x -= slope * (ahead < 0 ? -ahead : ahead);
    store(scores + j, x);
  }
}

// scores[i, 0 .. keys) becomes e^(score - shift_i), 0 where query first + i may not look and behind
// `keys` up to the row's end.
TRANSFORMER_INLINE void exponentials(float* scores, int64_t row, int64_t allowed, float shift) {
  for (int64_t j = 0; j < row; j += kLanes) {
    Floats x;
    load(x, scores + j);
    x -= shift;
    exponential(x);
    if (j + kLanes > allowed) keep_some(x, allowed - j);
    store(scores + j, x);
  }
}

TRANSFORMER_INLINE float row_maximum(const float* scores, int64_t allowed) {
  Floats most = Floats{} - std::numeric_limits<float>::max();
  for (int64_t j = 0; j < allowed; j += kLanes) {
    Floats x;
    load(x, scores + j);
    if (j + kLanes > allowed) {  // nothing behind the end may win
      Floats inside = Floats{} + 1.0f;
      keep_some(inside, allowed - j);
      x = inside > 0 ? x : most;
    }
    most = x > most ? x : most;
  }
  return largest(most);
}

TRANSFORMER_INLINE float row_sum(const float* row, int64_t count) {
  Floats total{};
  for (int64_t j = 0; j < count; j += kLanes) {
    Floats x;
    load(x, row + j);
    total += x;
  }
  return sum(total);
}

TRANSFORMER_INLINE float dot(const float* a, const float* b, int64_t count) {
  Floats total{};
  for (int64_t j = 0; j < count; j += kLanes) {
    Floats x, y;
    load_some(x, a + j, count - j);
    load_some(y, b + j, count - j);
    total += x * y;
  }
  return sum(total);
}

// log_sums: [queries of the sentence], kept for the backward pass.
TRANSFORMER_INLINE void attend(const Rows& rows, const Head& q, const Head& k, const Head& v,
                               const Head& out, float* log_sums) {
  const int64_t dk = padded_to_lanes(q.width);
  const int64_t dv = padded_to_lanes(v.width);
  const int64_t keys_row = padded_to_lanes(rows.k_count);
  const auto [queries, keys_t, values, scores, result] = workspace.pieces<5>(
      {kQueries * dk, q.width * keys_row, rows.k_count * dv, kQueries * keys_row, kQueries * dv});
  gather_transposed(k, rows.k_begin, rows.k_count, keys_t, keys_row);
  gather(v, rows.k_begin, rows.k_count, 1.0f, values, dv);
  const float scale = 1.0f / std::sqrt(static_cast<float>(q.width));

  for (int64_t first = 0; first < rows.q_count; first += kQueries) {
    const int64_t count = std::min(kQueries, rows.q_count - first);
    const int64_t seen = rows.keys(first, count);
    const int64_t row = padded_to_lanes(seen);
    gather(q, rows.q_begin + first, count, scale, queries, dk);
    small_product({queries, dk, 1}, count, keys_t, keys_row, q.width, row, scores, row, false);
    for (int64_t i = 0; i < count; ++i) {
      float* score = scores + i * row;
      const int64_t allowed = rows.keys(first + i, 1);
      if (rows.slope != 0) fall_with_distance(score, row, first + i, rows.slope);
      const float maximum = allowed > 0 ? row_maximum(score, allowed) : 0;
      exponentials(score, row, allowed, maximum);
      const float total = row_sum(score, row);
      log_sums[first + i] = total > 0 ? maximum + std::log(total) : 0;
      const float normalizer = total > 0 ? 1 / total : 0;
      for (int64_t j = 0; j < row; j += kLanes) {
        Floats x;
        load(x, score + j);
        store(score + j, x * normalizer);
      }
    }
    small_product({scores, row, 1}, count, values, dv, seen, dv, result, dv, false);
    for (int64_t i = 0; i < count; ++i) {
      std::memcpy(out.data + (rows.q_begin + first + i) * out.row, result + i * dv,
                  static_cast<size_t>(v.width) * sizeof(float));
    }
  }
}

// Adds to the gradients of q, k and v.
TRANSFORMER_INLINE void attend_backward(const Rows& rows, const Head& q, const Head& k,
                                        const Head& v, const Head& out, const Head& out_gradient,
                                        const float* log_sums, const Head& q_gradient,
                                        const Head& k_gradient, const Head& v_gradient) {
  const int64_t dk = padded_to_lanes(q.width);
  const int64_t dv = padded_to_lanes(v.width);
  const int64_t keys_row = padded_to_lanes(rows.k_count);
  const auto [queries, keys, keys_t, values_t, weights, slopes, gradient, dq, dkeys, dvalues] =
      workspace.pieces<10>({kQueries * dk, rows.k_count * dk, q.width * keys_row,
                            v.width * keys_row, kQueries * keys_row, kQueries * keys_row,
                            kQueries * dv, kQueries * dk, rows.k_count * dk, rows.k_count * dv});
  gather(k, rows.k_begin, rows.k_count, 1.0f, keys, dk);
  gather_transposed(k, rows.k_begin, rows.k_count, keys_t, keys_row);
  gather_transposed(v, rows.k_begin, rows.k_count, values_t, keys_row);
  std::fill_n(dkeys, rows.k_count * dk, 0.0f);
  std::fill_n(dvalues, rows.k_count * dv, 0.0f);
  const float scale = 1.0f / std::sqrt(static_cast<float>(q.width));

  for (int64_t first = 0; first < rows.q_count; first += kQueries) {
    const int64_t count = std::min(kQueries, rows.q_count - first);
    const int64_t seen = rows.keys(first, count);
    const int64_t row = padded_to_lanes(seen);
    gather(q, rows.q_begin + first, count, scale, queries, dk);
    gather(out_gradient, rows.q_begin + first, count, 1.0f, gradient, dv);
    small_product({queries, dk, 1}, count, keys_t, keys_row, q.width, row, weights, row, false);
    small_product({gradient, dv, 1}, count, values_t, keys_row, v.width, row, slopes, row, false);
    for (int64_t i = 0; i < count; ++i) {
      float* weight = weights + i * row;
      float* slope = slopes + i * row;
      if (rows.slope != 0) fall_with_distance(weight, row, first + i, rows.slope);
      exponentials(weight, row, rows.keys(first + i, 1), log_sums[first + i]);
      // sum over the keys of weight · slope, which is that over the columns of output · gradient
      const float mean =
          dot(out.data + (rows.q_begin + first + i) * out.row, gradient + i * dv, v.width);
      for (int64_t j = 0; j < row; j += kLanes) {
        Floats w, s;
        load(w, weight + j);
        load(s, slope + j);
        store(slope + j, w * (s - mean));
      }
    }
    small_product({weights, 1, row}, seen, gradient, dv, count, dv, dvalues, dv, true);
    small_product({slopes, 1, row}, seen, queries, dk, count, dk, dkeys, dk, true);
    small_product({slopes, row, 1}, count, keys, dk, seen, dk, dq, dk, false);
    for (int64_t i = 0; i < count * dk; i += kLanes) {
      Floats x;
      load(x, dq + i);
      store(dq + i, x * scale);
    }
    add_to(dq, dk, count, q_gradient, rows.q_begin + first);
  }
  add_to(dkeys, dk, rows.k_count, k_gradient, rows.k_begin);
  add_to(dvalues, dv, rows.k_count, v_gradient, rows.k_begin);
}

// Where the queries, keys and values of each head stand in the rows of two tensors, which may be
// one.
struct Operands {
  torch::Tensor q_rows, k_rows;
  int64_t k_column, v_column;
};

Operands operands(const torch::Tensor& q_rows, const torch::Tensor& k_rows,
                  const HeadSizes& sizes) {
  const int64_t k_column = q_rows.is_same(k_rows) ? sizes.h * sizes.d_k : 0;
  return {q_rows, k_rows, k_column, k_column + sizes.kv_heads * sizes.d_k};
}

struct Task {
  const Starts& q_starts;
  const Starts& k_starts;
  const HeadSizes& sizes;
  bool causal;
  const std::vector<double>& slopes;  // of the heads, or none

  Rows rows(int64_t sentence) const {
    const auto s = static_cast<size_t>(sentence);
    return {q_starts[s], q_starts[s + 1] - q_starts[s], k_starts[s], k_starts[s + 1] - k_starts[s],
            causal};
  }
  float slope(int64_t head) const {
    return slopes.empty() ? 0.0f : static_cast<float>(slopes[static_cast<size_t>(head)]);
  }
  int64_t sentences() const { return std::ssize(q_starts) - 1; }
};

// Calls body(rows, key head) for each sentence and key head, on all threads.
template <class Body>
void for_each_head(const Task& task, const Body& body) {
  const int64_t heads = task.sizes.kv_heads;
  at::parallel_for(0, task.sentences() * heads, 1, [&](int64_t begin, int64_t end) {
    vectorized([&]() __attribute__((always_inline)) {
      for (int64_t i = begin; i < end; ++i) body(task.rows(i / heads), i % heads);
    });
  });
}

void forward(const Task& task, const Operands& in, const torch::Tensor& out,
             const torch::Tensor& log_sums) {
  const auto& sizes = task.sizes;
  const int64_t group = sizes.h / sizes.kv_heads;
  float* const sums = log_sums.data_ptr<float>();  // [h, q_tokens]
  const int64_t tokens = out.size(0);
  for_each_head(
      task, [&](Rows rows, int64_t kv) __attribute__((always_inline)) {
        const Head k = head_of(in.k_rows, in.k_column, kv, sizes.d_k);
        const Head v = head_of(in.k_rows, in.v_column, kv, sizes.d_v);
        for (int64_t head = kv * group; head < (kv + 1) * group; ++head) {
          rows.slope = task.slope(head);
          attend(rows, head_of(in.q_rows, 0, head, sizes.d_k), k, v,
                 head_of(out, 0, head, sizes.d_v), sums + head * tokens + rows.q_begin);
        }
      });
}

void backward(const Task& task, const Operands& in, const torch::Tensor& out,
              const torch::Tensor& out_gradient, const torch::Tensor& log_sums,
              const Operands& gradients) {
  const auto& sizes = task.sizes;
  const int64_t group = sizes.h / sizes.kv_heads;
  const float* const sums = log_sums.data_ptr<float>();
  const int64_t tokens = out.size(0);
  for_each_head(
      task, [&](Rows rows, int64_t kv) __attribute__((always_inline)) {
        for (int64_t head = kv * group; head < (kv + 1) * group; ++head) {
          rows.slope = task.slope(head);
          attend_backward(
              rows, head_of(in.q_rows, 0, head, sizes.d_k),
              head_of(in.k_rows, in.k_column, kv, sizes.d_k),
              head_of(in.k_rows, in.v_column, kv, sizes.d_v), head_of(out, 0, head, sizes.d_v),
              head_of(out_gradient, 0, head, sizes.d_v), sums + head * tokens + rows.q_begin,
              head_of(gradients.q_rows, 0, head, sizes.d_k),
              head_of(gradients.k_rows, in.k_column, kv, sizes.d_k),
              head_of(gradients.k_rows, in.v_column, kv, sizes.d_v));
        }
      });
}

class PackedAttention : public torch::autograd::Function<PackedAttention> {
 public:
  static torch::Tensor forward(torch::autograd::AutogradContext* context,
                               const torch::Tensor& q_rows, const torch::Tensor& k_rows,
                               const Starts& q_starts, const Starts& k_starts,
                               const HeadSizes& sizes, bool causal,
                               const std::vector<double>& slopes) {
    const auto q = q_rows.contiguous();
    const auto k = q_rows.is_same(k_rows) ? q : k_rows.contiguous();
    const auto out = torch::empty({q.size(0), sizes.h * sizes.d_v}, q.options());
    const auto log_sums = torch::empty({sizes.h, q.size(0)}, q.options());
    transformer::forward({q_starts, k_starts, sizes, causal, slopes}, operands(q, k, sizes), out,
                         log_sums);
    context->save_for_backward({q, k, out, log_sums});
    context->saved_data["q_starts"] = q_starts;
    context->saved_data["k_starts"] = k_starts;
    context->saved_data["slopes"] = slopes;
    context->saved_data["sizes"] =
        std::vector<int64_t>{sizes.h, sizes.kv_heads, sizes.d_k, sizes.d_v, causal};
    return out;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 const torch::autograd::variable_list& outer) {
    const auto saved = context->get_saved_variables();
    const auto& q = saved[0];
    const bool is_self = q.is_same(saved[1]) || q.data_ptr() == saved[1].data_ptr();
    const auto& k = is_self ? q : saved[1];
    const auto q_starts = context->saved_data["q_starts"].toIntVector();
    const auto k_starts = context->saved_data["k_starts"].toIntVector();
    const auto slopes = context->saved_data["slopes"].toDoubleVector();
    const auto numbers = context->saved_data["sizes"].toIntVector();
    const HeadSizes sizes{numbers[0], numbers[1], numbers[2], numbers[3]};
    const auto q_gradient = torch::zeros_like(q);
    const auto k_gradient = is_self ? q_gradient : torch::zeros_like(k);
    const auto in = operands(q, k, sizes);
    transformer::backward({q_starts, k_starts, sizes, numbers[4] != 0, slopes}, in, saved[2],
                          outer[0].contiguous(), saved[3],
                          {q_gradient, k_gradient, in.k_column, in.v_column});
    return {q_gradient, is_self ? torch::Tensor() : k_gradient, {}, {}, {}, {}, {}};
  }
};

void check(const torch::Tensor& rows, int64_t width, const Starts& starts, const char* what) {
  TORCH_CHECK(rows.dim() == 2 && rows.size(0) == (starts.empty() ? 0 : starts.back()) &&
                  rows.size(1) == width,
              what, ": expected ", width, " columns and the rows of the sentences, got ",
              rows.sizes());
  TORCH_CHECK(rows.device().is_cpu() && rows.scalar_type() == torch::kFloat, what,
              ": expected float32 on the CPU");
}

}  // namespace

torch::Tensor packed_self_attention(const torch::Tensor& qkv, const Starts& starts,
                                    const HeadSizes& sizes, bool causal,
                                    const std::vector<double>& slopes) {
  check(qkv, sizes.h * sizes.d_k + sizes.kv_heads * (sizes.d_k + sizes.d_v), starts,
        "packed attention qkv");
  TORCH_CHECK(slopes.empty() || std::ssize(slopes) == sizes.h, "packed attention: ", slopes.size(),
              " slopes for ", sizes.h, " heads");
  return PackedAttention::apply(qkv, qkv, starts, starts, sizes, causal, slopes);
}

torch::Tensor packed_cross_attention(const torch::Tensor& q, const torch::Tensor& kv,
                                     const Starts& q_starts, const Starts& k_starts,
                                     const HeadSizes& sizes) {
  check(q, sizes.h * sizes.d_k, q_starts, "packed attention q");
  check(kv, sizes.kv_heads * (sizes.d_k + sizes.d_v), k_starts, "packed attention kv");
  TORCH_CHECK(q_starts.size() == k_starts.size(), "packed attention: ", q_starts.size() - 1,
              " sentences ask ", k_starts.size() - 1);
  return PackedAttention::apply(q, kv, q_starts, k_starts, sizes, false, std::vector<double>{});
}

}  // namespace transformer
