#pragma once

#include <vector>

#include "transformer/nn/attention.h"

namespace transformer {

// What the decoder keeps while it writes one word-piece after another: per layer the keys and
// values of what it has written, and those of the memory, which are computed once.
//
// A row is one unfinished translation. `beam` rows after each other share one row of the memory.
struct DecoderCache {
  struct Layer {
    KeysValues self;   // [rows, kv_heads, room, width], room >= length: the rest is not yet written
    KeysValues cross;  // [rows / beam, kv_heads, source_time, width]
  };
  std::vector<Layer> layers;
  torch::Tensor source_mask;  // [rows / beam, 1, 1, source_time]
  int64_t length = 0;         // word-pieces written, the same in every row
  int64_t rows = 0;
  int64_t beam = 1;

  // Writes the newest keys and values, [rows, kv_heads, 1, width], behind the others of a layer and
  // returns all of them, [rows, kv_heads, length + 1, width]. `length` itself grows when every
  // layer has done so.
  KeysValues append(Layer& layer, const KeysValues& newest) const;

  // Makes every row into `width` equal rows after each other. Before anything is written, beam = 1.
  void widen(int64_t width);

  // Row i becomes what row chosen[i] is: reorders, repeats or drops rows. chosen: [new rows] int64.
  // Groups of `beam` rows must come from one group. Where the groups stay as they are, what belongs
  // to the memory is not touched.
  void select(const torch::Tensor& chosen);
};

}  // namespace transformer
