#include "transformer/nn/decoder_cache.h"

#include "transformer/nn/kernels/cached_attention.h"
#include "transformer/nn/scaled_dot_product.h"
#include "transformer/nn/shapes.h"

namespace transformer {

namespace {

constexpr int64_t kRoomStep = 16;

// `positions` more of them, not yet written. x: [room, ...]
torch::Tensor with_room(const torch::Tensor& x, int64_t positions) {
  auto sizes = x.sizes().vec();
  sizes[0] = positions;
  return torch::cat({x, x.new_zeros(sizes)});
}

bool is_identity(const torch::Tensor& chosen, int64_t rows) {
  return chosen.size(0) == rows && chosen.equal(torch::arange(rows, chosen.options()));
}

}  // namespace

DecoderCache::DecoderCache(std::vector<KeysValues> cross, const torch::Tensor& mask)
    : source_mask(mask), rows(mask.size(0)) {
  const auto numbers = torch::dtype(torch::kLong).device(mask.device());
  slots = torch::zeros({rows, 0}, numbers);
  sentences = torch::arange(rows, numbers);
  for (auto& [keys, values] : cross) {
    const auto nothing = [&](const torch::Tensor& x) {
      return x.new_zeros({0, rows, x.size(1), x.size(3)});
    };
    layers.push_back(
        {{nothing(keys), nothing(values)}, KeysValues{keys.contiguous(), values.contiguous()}});
  }
}

DecoderCache::DecoderCache(const ModelConfig& config, int64_t rows_,
                           const torch::TensorOptions& options)
    : rows(rows_) {
  const auto numbers = torch::dtype(torch::kLong).device(options.device());
  slots = torch::zeros({rows, 0}, numbers);
  sentences = torch::arange(rows, numbers);
  const auto nothing = [&](int64_t width) {
    return torch::zeros({0, rows, config.kv_heads, width}, options);
  };
  for (int64_t i = 0; i < config.N; ++i) {
    layers.push_back({{nothing(config.d_k), nothing(config.d_v)}, std::nullopt});
  }
}

void DecoderCache::open_position() {
  if (length == slots.size(1)) {
    const int64_t more = std::max(kRoomStep, length);  // so that growing costs little in all
    slots = torch::cat({slots, slots.new_zeros({rows, more})}, 1);
    for (auto& layer : layers) {
      layer.self = {with_room(layer.self.keys, more), with_room(layer.self.values, more)};
    }
  }
  slots.select(1, length).copy_(torch::arange(rows, slots.options()));
}

void DecoderCache::write(Layer& layer, const KeysValues& newest) {
  const auto put = [&](const torch::Tensor& kept, const torch::Tensor& x) {
    kept.select(0, length).narrow(0, 0, rows).copy_(x.squeeze(2));
  };
  put(layer.self.keys, newest.keys);
  put(layer.self.values, newest.values);
}

torch::Tensor DecoderCache::attend_written(const Layer& layer, const torch::Tensor& q,
                                           const std::optional<torch::Tensor>& bias) const {
  const auto* kernels = kernels_for(q);
  if (kernels != nullptr && !bias) {
    return attend_slots(*kernels, q, layer.self.keys, layer.self.values, slots, length + 1);
  }
  const auto positions = torch::arange(length + 1, slots.options()) * layer.self.keys.size(1);
  const auto places = (slots.narrow(1, 0, length + 1) + positions).flatten();
  const auto gather = [&](const torch::Tensor& x) {
    return x.flatten(0, 1).index_select(0, places).view({rows, length + 1, x.size(2), x.size(3)});
  };
  return scaled_dot_product(q, gather(layer.self.keys).transpose(1, 2),
                            gather(layer.self.values).transpose(1, 2), {.bias = bias});
}

torch::Tensor DecoderCache::attend_memory(const Layer& layer, const torch::Tensor& q) const {
  TORCH_CHECK(layer.cross && source_mask, "decoder cache: there is no memory to look at");
  const auto& [keys, values] = *layer.cross;
  if (const auto* kernels = kernels_for(q)) {
    return attend_sentences(*kernels, q, keys, values, *source_mask, sentences);
  }
  // Rows that share a memory ask it together, as if they were `beam` positions of one sentence.
  const auto together = q.view({-1, beam, q.size(1), q.size(3)}).transpose(1, 2);
  const bool all = is_identity(sentences, source_mask->size(0));
  const auto of = [&](const torch::Tensor& x) { return all ? x : x.index_select(0, sentences); };
  return scaled_dot_product(together, of(keys), of(values), {.allowed = of(*source_mask)})
      .transpose(1, 2)
      .reshape({rows, q.size(1), 1, -1});
}

void DecoderCache::widen(int64_t width) {
  TORCH_CHECK(beam == 1, "decoder cache: can be widened once");
  const auto wider = [&](const torch::Tensor& x) {
    auto sizes = x.sizes().vec();
    sizes[1] *= width;
    auto more = x.new_zeros(sizes);
    more.narrow(1, 0, x.size(1)).copy_(x);
    return more;
  };
  for (auto& layer : layers) layer.self = {wider(layer.self.keys), wider(layer.self.values)};
  slots = slots.repeat_interleave(width, 0);
  rows *= width;
  beam = width;
}

void DecoderCache::select(const torch::Tensor& chosen) {
  expect_shape(chosen, {kAny}, "decoder cache rows");
  TORCH_CHECK(chosen.size(0) % beam == 0, "decoder cache: ", chosen.size(0),
              " rows are no whole number of groups of ", beam);
  if (is_identity(chosen, rows)) return;
  const auto groups = chosen.view({-1, beam}).select(1, 0).div(beam, "floor");
  slots = slots.index_select(0, chosen.to(slots.device()));
  if (!is_identity(groups, rows / beam)) {
    sentences = sentences.index_select(0, groups.to(sentences.device()));
  }
  rows = chosen.size(0);
  // The memory of sentences that are done is let go when it is half of all.
  const int64_t kept = sentences.size(0);
  if (!source_mask || 2 * kept > source_mask->size(0)) return;
  const auto keep = [&](torch::Tensor& x) { x = x.index_select(0, sentences); };
  keep(*source_mask);
  for (auto& layer : layers) {
    keep(layer.cross->keys);
    keep(layer.cross->values);
  }
  sentences = torch::arange(kept, sentences.options());
}

}  // namespace transformer
