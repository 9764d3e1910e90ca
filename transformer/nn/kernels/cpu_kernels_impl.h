#pragma once

// The kernels of cpu_kernels.h for vectors of W floats. Compiled once for each instruction set, and
// so without std's templates, whose instances other files share.

#include "transformer/nn/kernels/cpu_kernels.h"
#include "transformer/nn/kernels/simd.h"

namespace transformer::simd {

// What comes next from memory while products are made: lines of 64 bytes, so many every kUnroll
// steps.
struct Ahead {
  const char* next;
  const char* end;
  int64_t lines;
};
constexpr int64_t kUnroll = 4;

// R rows times one panel of C vectors. W · C numbers of R rows stay in registers.
template <int W, int R, int C>
void tile(const float* x, int64_t inner, const float* panel, const float* bias, float* out,
          int64_t out_stride, Ahead& ahead) {
  using S = Simd<W>;
  typename S::Vector sums[R][C];
  for (int c = 0; c < C; ++c) {
    const auto start = bias ? S::load(bias + c * W) : typename S::Vector{};
    for (int r = 0; r < R; ++r) sums[r][c] = start;
  }
  const auto add = [&](int64_t k) __attribute__((always_inline)) {
    typename S::Vector weights[C];
    for (int c = 0; c < C; ++c) weights[c] = S::load(panel + (k * C + c) * W);
    for (int r = 0; r < R; ++r) {
      const auto input = S::all(x[r * inner + k]);
      for (int c = 0; c < C; ++c) sums[r][c] += input * weights[c];
    }
  };
  int64_t k = 0;
  const char* next = ahead.next;
  for (; k + kUnroll <= inner; k += kUnroll) {
    for (int64_t i = 0; i < ahead.lines && next < ahead.end; ++i, next += 64) {
      __builtin_prefetch(next, 0, 2);
    }
#pragma GCC unroll 4
    for (int64_t i = 0; i < kUnroll; ++i) add(k + i);
  }
  ahead.next = next;
  for (; k < inner; ++k) add(k);
  for (int r = 0; r < R; ++r) {
    for (int c = 0; c < C; ++c) S::store(out + r * out_stride + c * W, sums[r][c]);
  }
}

constexpr int kRows = 6;  // of a tile

template <int W, int C>
void tile_of(int64_t rows, const float* x, int64_t inner, const float* panel, const float* bias,
             float* out, int64_t out_stride, Ahead& ahead) {
  static_assert(kRows == 6);
  switch (rows) {
    case 1:
      return tile<W, 1, C>(x, inner, panel, bias, out, out_stride, ahead);
    case 2:
      return tile<W, 2, C>(x, inner, panel, bias, out, out_stride, ahead);
    case 3:
      return tile<W, 3, C>(x, inner, panel, bias, out, out_stride, ahead);
    case 4:
      return tile<W, 4, C>(x, inner, panel, bias, out, out_stride, ahead);
    case 5:
      return tile<W, 5, C>(x, inner, panel, bias, out, out_stride, ahead);
    case 6:
      return tile<W, 6, C>(x, inner, panel, bias, out, out_stride, ahead);
  }
}

// All rows times panels first .. last - 1; `out_of(panel)` says where a panel's result goes. While
// the rows meet one panel the next one is fetched.
template <int W, int C, class Out>
void panels(const PanelProduct& p, const float* x, int64_t rows, int64_t first, int64_t last,
            int64_t out_stride, const Out& out_of) {
  const int64_t panel = p.inner * C * W;
  const int64_t tiles = (rows + kRows - 1) / kRows;
  constexpr int64_t kNear = 16384;  // bytes, where one tile takes all rows
  const auto* end = reinterpret_cast<const char*>(p.panels + last * panel);
  const auto* start = reinterpret_cast<const char*>(p.panels + first * panel);
  const int64_t distance = tiles == 1 ? kNear : panel * static_cast<int64_t>(sizeof(float));
  constexpr int64_t kLinesOfStep = C * W * static_cast<int64_t>(sizeof(float)) / 64;
  Ahead ahead{start + distance, end, (kUnroll * kLinesOfStep + tiles - 1) / tiles};
  for (int64_t i = first; i < last; ++i) {
    if (tiles > 1) {
      const char* following = start + (i - first + 2) * distance;
      ahead.end = following < end ? following : end;
    }
    const float* bias = p.bias ? p.bias + i * C * W : nullptr;
    float* out = out_of(i);
    for (int64_t t = 0, row = 0; t < tiles; ++t) {
      const int64_t stop = rows * (t + 1) / tiles;  // tiles of like height
      tile_of<W, C>(stop - row, x + row * p.inner, p.inner, p.panels + i * panel, bias,
                    out + row * out_stride, out_stride, ahead);
      row = stop;
    }
  }
}

template <int W, int C>
void multiply(const PanelProduct& p, int64_t first, int64_t last) {
  constexpr int64_t kWidth = C * W;
  // The rows that meet a panel together stay in the second-level cache.
  constexpr int64_t kNumbers = 160 * 1024;
  int64_t most = kNumbers / p.inner / kRows * kRows;
  if (most < kRows) most = kRows;
  const int64_t blocks = (p.rows + most - 1) / most;
  for (int64_t block = 0, row = 0; block < blocks; ++block) {
    const int64_t stop = p.rows * (block + 1) / blocks;
    const float* x = p.x + row * p.inner;
    float* out = p.out + row * p.columns;
    const int64_t whole = p.columns / kWidth < last ? p.columns / kWidth : last;
    if (first < whole) {
      panels<W, C>(p, x, stop - row, first, whole, p.columns,
                   [&](int64_t i) { return out + i * kWidth; });
    }
    if (whole < last) {  // a panel that is not full
      const int64_t start = (first > whole ? first : whole);
      const int64_t columns = p.columns - start * kWidth;
      float part[kRows * kWidth];
      for (int64_t r = row; r < stop; r += kRows) {
        const int64_t count = stop - r < kRows ? stop - r : kRows;
        panels<W, C>(p, p.x + r * p.inner, count, start, start + 1, kWidth,
                     [&](int64_t) { return part; });
        for (int64_t i = 0; i < count; ++i) {
          for (int64_t c = 0; c < columns; ++c) {
            p.out[(r + i) * p.columns + start * kWidth + c] = part[i * kWidth + c];
          }
        }
      }
    }
    row = stop;
  }
}

template <int W>
void insert(BestOfRow& best, int64_t width, float value, int32_t column) {
  int64_t place = best.found < width ? best.found++ : width - 1;
  for (; place > 0 && best.values[place - 1] < value; --place) {
    best.values[place] = best.values[place - 1];
    best.columns[place] = best.columns[place - 1];
  }
  best.values[place] = value;
  best.columns[place] = column;
}

// Columns first_column .. + count - 1 of a row join what is known of it.
template <int W>
void take(const float* row, int64_t count, int64_t first_column, int64_t width, uint64_t left_out,
          BestOfRow& best) {
  using S = Simd<W>;
  auto greatest = S::all(-__builtin_inff());
  int64_t i = 0;
  for (; i + W <= count; i += W) greatest = S::larger(greatest, S::load(row + i));
  float largest = S::largest(greatest);
  for (int64_t rest = i; rest < count; ++rest) largest = row[rest] > largest ? row[rest] : largest;

  if (largest > best.largest) {
    float lanes[W];
    S::store(lanes, S::exp(S::all(best.largest - largest)));
    best.sum *= lanes[0];
    best.largest = largest;
  }
  const auto shift = S::all(best.largest);
  auto sum = typename S::Vector{};
  for (i = 0; i + W <= count; i += W) sum += S::exp(S::load(row + i) - shift);
  float total = S::sum(sum);
  if (i < count) {
    float lanes[W];
    for (int64_t j = 0; j < W; ++j) lanes[j] = i + j < count ? row[i + j] : -__builtin_inff();
    S::store(lanes, S::exp(S::load(lanes) - shift));
    for (int64_t j = 0; j < count - i; ++j) total += lanes[j];
  }
  best.sum += total;

  const auto least = [&] {
    return best.found < width ? -__builtin_inff() : best.values[width - 1];
  };
  if (best.found == width && !(largest > least())) return;
  for (i = 0; i < count; i += W) {
    const int64_t stop = i + W < count ? i + W : count;
    if (stop - i == W) {
      const auto above = S::load(row + i) > S::all(least());
      bool any = false;
      for (int j = 0; j < W; ++j) any |= above[j] != 0;
      if (!any) continue;
    }
    for (int64_t j = i; j < stop; ++j) {
      if (!(row[j] > least())) continue;
      const int64_t column = first_column + j;
      if (column < 64 && (left_out >> column & 1) != 0) continue;
      insert<W>(best, width, row[j], static_cast<int32_t>(column));
    }
  }
}

template <int W, int C>
void best(const PanelProduct& p, int64_t first, int64_t last, int64_t width, uint64_t left_out,
          BestOfRow* best) {
  constexpr int64_t kWidth = C * W;
  constexpr int64_t kStride = kWidth * CpuKernels::kBlock;
  for (int64_t start = first; start < last; start += CpuKernels::kBlock) {
    const int64_t stop = start + CpuKernels::kBlock < last ? start + CpuKernels::kBlock : last;
    panels<W, C>(p, p.x, p.rows, start, stop, kStride,
                 [&](int64_t i) { return p.out + (i - start) * kWidth; });
    const int64_t end = stop * kWidth < p.columns ? stop * kWidth : p.columns;
    for (int64_t r = 0; r < p.rows; ++r) {
      take<W>(p.out + r * kStride, end - start * kWidth, start * kWidth, width, left_out, best[r]);
    }
  }
}

template <int W>
float dot(const float* a, const float* b, int64_t count) {
  using S = Simd<W>;
  int64_t i = 0;
  float rest = 0;
  auto sum = typename S::Vector{};
  for (; i + W <= count; i += W) sum += S::load(a + i) * S::load(b + i);
  for (; i < count; ++i) rest += a[i] * b[i];
  return S::sum(sum) + rest;
}

template <int W>
void attend(const Lookup& a) {
  using S = Simd<W>;
  if (a.positions == 0) {
    for (int64_t d = 0; d < a.d_v; ++d) a.out[d] = 0;
    return;
  }
  float largest = -__builtin_inff();
  for (int64_t i = 0; i < a.positions; ++i) {
    a.weights[i] = dot<W>(a.q, a.keys + a.key_offsets[i], a.d_k);
    largest = a.weights[i] > largest ? a.weights[i] : largest;
  }
  for (int64_t i = a.positions; i < a.positions + W; ++i) a.weights[i] = -__builtin_inff();
  auto sums = typename S::Vector{};
  const int64_t padded = (a.positions + W - 1) / W * W;
  for (int64_t i = 0; i < padded; i += W) {
    const auto weights = S::exp(S::load(a.weights + i) - S::all(largest));
    S::store(a.weights + i, weights);
    sums += weights;
  }
  const auto scale = S::all(1.0f / S::sum(sums));
  int64_t d = 0;
  for (; d + 4 * W <= a.d_v; d += 4 * W) {
    typename S::Vector out[4] = {};
    for (int64_t i = 0; i < a.positions; ++i) {
      const auto weight = S::all(a.weights[i]);
      const float* value = a.values + a.value_offsets[i] + d;
      for (int j = 0; j < 4; ++j) out[j] += weight * S::load(value + j * W);
    }
    for (int j = 0; j < 4; ++j) S::store(a.out + d + j * W, out[j] * scale);
  }
  for (; d + W <= a.d_v; d += W) {
    auto out = typename S::Vector{};
    for (int64_t i = 0; i < a.positions; ++i) {
      out += S::all(a.weights[i]) * S::load(a.values + a.value_offsets[i] + d);
    }
    S::store(a.out + d, out * scale);
  }
  for (; d < a.d_v; ++d) {
    float out = 0;
    for (int64_t i = 0; i < a.positions; ++i) {
      out += a.weights[i] * a.values[a.value_offsets[i] + d];
    }
    a.out[d] = out * scale[0];
  }
}

template <int W, int C>
constexpr CpuKernels kernels(const char* name) {
  return {name, W * C, multiply<W, C>, best<W, C>, attend<W>};
}

}  // namespace transformer::simd
