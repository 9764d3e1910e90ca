#include "transformer/nn/decoder_cache.h"

#include "transformer/nn/shapes.h"

namespace transformer {

namespace {

constexpr int64_t kRoomStep = 16;  // a multiple of this many positions is kept ready

// One more position behind `length` ones, in place where there is room.
void append_to(torch::Tensor& kept, const torch::Tensor& newest, int64_t length) {
  if (length == kept.size(2)) {
    auto sizes = kept.sizes().vec();
    sizes[2] = kRoomStep;
    kept = torch::cat({kept, kept.new_empty(sizes)}, 2);
  }
  kept.narrow(2, length, 1).copy_(newest);
}

bool is_identity(const torch::Tensor& chosen, int64_t rows) {
  return chosen.size(0) == rows && chosen.equal(torch::arange(rows, chosen.options()));
}

}  // namespace

KeysValues DecoderCache::append(Layer& layer, const KeysValues& newest) const {
  append_to(layer.self.keys, newest.keys, length);
  append_to(layer.self.values, newest.values, length);
  return {layer.self.keys.narrow(2, 0, length + 1), layer.self.values.narrow(2, 0, length + 1)};
}

void DecoderCache::widen(int64_t width) {
  TORCH_CHECK(length == 0 && beam == 1, "decoder cache: only a fresh one can be widened");
  for (auto& layer : layers) {
    layer.self.keys = layer.self.keys.repeat_interleave(width, 0);
    layer.self.values = layer.self.values.repeat_interleave(width, 0);
  }
  rows *= width;
  beam = width;
}

void DecoderCache::select(const torch::Tensor& chosen) {
  expect_shape(chosen, {kAny}, "decoder cache rows");
  TORCH_CHECK(chosen.size(0) % beam == 0, "decoder cache: ", chosen.size(0),
              " rows are no whole number of groups of ", beam);
  if (is_identity(chosen, rows)) return;
  const auto groups = chosen.view({-1, beam}).select(1, 0).div(beam, "floor");
  const bool same_groups = is_identity(groups, rows / beam);
  rows = chosen.size(0);

  const auto on_device = chosen.to(source_mask.device());
  for (auto& layer : layers) {
    layer.self.keys = layer.self.keys.index_select(0, on_device);
    layer.self.values = layer.self.values.index_select(0, on_device);
  }
  if (same_groups) return;
  const auto memory_rows = groups.to(source_mask.device());
  source_mask = source_mask.index_select(0, memory_rows);
  for (auto& layer : layers) {
    layer.cross.keys = layer.cross.keys.index_select(0, memory_rows);
    layer.cross.values = layer.cross.values.index_select(0, memory_rows);
  }
}

}  // namespace transformer
