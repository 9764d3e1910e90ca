#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "transformer/nn/attention.h"

namespace transformer {

// What the decoder keeps while it writes one word-piece after another: per layer the keys and
// values of what it has written, and those of the memory, which are computed once, where there is
// one.
//
// A row is one unfinished translation. `beam` rows after each other share one sentence's memory.
// Nothing is copied when rows are reordered: at each position a row's keys stay in the slot where
// they were written, and the row remembers which that is, as do the rows that continue it.
struct DecoderCache {
  struct Layer {
    KeysValues self;  // [room, slots, kv_heads, width]; room > length, the rest is not yet written
    std::optional<KeysValues> cross;  // [sentences, kv_heads, source_time, width]
  };
  std::vector<Layer> layers;
  std::optional<torch::Tensor> source_mask;  // [sentences, 1, 1, source_time]
  torch::Tensor slots;                       // [rows, room] int64: where position i of a row stands
  torch::Tensor sentences;  // [rows / beam] int64: whose memory each group of rows reads
  int64_t length = 0;       // word-pieces written, the same in every row
  int64_t rows = 0;
  int64_t beam = 1;

  DecoderCache(std::vector<KeysValues> cross, const torch::Tensor& source_mask);
  // Of a decoder without a memory that writes so many rows. `options` are its weights'.
  DecoderCache(const ModelConfig& config, int64_t rows, const torch::TensorOptions& options);

  // Makes place for one more position of every row. `length` grows when every layer has written it.
  void open_position();
  // The newest keys and values, [rows, kv_heads, 1, width].
  void write(Layer& layer, const KeysValues& newest);
  // One query a row, [rows, h, 1, d_k], over what the row has written, the newest included, and
  // over its sentence's memory. Return [rows, h, 1, d_v]. `bias`, [h, 1, length + 1], is added to
  // the scores.
  torch::Tensor attend_written(const Layer& layer, const torch::Tensor& q,
                               const std::optional<torch::Tensor>& bias = std::nullopt) const;
  torch::Tensor attend_memory(const Layer& layer, const torch::Tensor& q) const;

  // Makes every row into `width` equal rows after each other, once.
  void widen(int64_t width);

  // Row i becomes what row chosen[i] is: reorders, repeats or drops rows. chosen: [new rows] int64
  // on the CPU. Groups of `beam` rows must come from one group.
  void select(const torch::Tensor& chosen);
};

}  // namespace transformer
