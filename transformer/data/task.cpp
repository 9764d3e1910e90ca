#include "transformer/data/task.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>

#include "transformer/random.h"

namespace transformer {

namespace {

constexpr int32_t kFirstPiece = kEos + 1;  // behind the special ones

int32_t replacement(int32_t piece, int64_t V, Random& random) {
  constexpr uint64_t kTenths = 10, kMasked = 8, kDrawn = 1;
  const uint64_t tenth = random.below(kTenths);
  if (tenth < kMasked) return kMaskPiece;
  if (tenth >= kMasked + kDrawn) return piece;
  return kFirstPiece + static_cast<int32_t>(random.below(static_cast<uint64_t>(V - kFirstPiece)));
}

// input: the sentence with end-of-sentence and padding behind it, and then with its masks. Returns
// what is to be predicted.
std::vector<int32_t> mask(std::span<int32_t> input, int64_t V, Random& random) {
  const auto end = std::find(input.begin(), input.end(), kEos);
  std::vector<size_t> places(static_cast<size_t>(end - input.begin()));
  std::iota(places.begin(), places.end(), size_t{0});
  shuffle(places, random);
  places.resize(static_cast<size_t>(chosen_pieces(std::ssize(places))));
  std::vector<int32_t> output(input.size(), kPad);
  for (const size_t place : places) {
    output[place] = input[place];
    input[place] = replacement(input[place], V, random);
  }
  return output;
}

Batch with_masks(Batch batch, int64_t V, const MaskStream& masks) {
  batch.target_input = std::exchange(batch.target_output, {});
  const auto length = static_cast<size_t>(batch.target_length);
  for (size_t i = 0; i < batch.rows.size(); ++i) {
    Random random(stream_seed(masks.seed, masks.purpose, batch.rows[i]));
    const auto output = mask(std::span(batch.target_input).subspan(i * length, length), V, random);
    batch.target_output.insert(batch.target_output.end(), output.begin(), output.end());
  }
  return batch;
}

Batch without_source(Batch batch) {
  batch.source.clear();
  batch.source_length = batch.source_tokens = 0;
  return batch;
}

}  // namespace

int64_t predicted_tokens(Family family, const Batch& batch) {
  return has_decoder(family) ? batch.target_tokens : batch.chosen_tokens;
}

MaskStream MaskStream::of_step(int64_t seed, int64_t step) {
  return {seed, "masks of step " + std::to_string(step)};
}

Batch for_task(const ModelConfig& model, Batch batch, const MaskStream& masks) {
  switch (model.family) {
    case Family::encoder_decoder:
      return batch;
    case Family::decoder_only:
      return without_source(std::move(batch));
    case Family::encoder_only:
      return with_masks(without_source(std::move(batch)), model.V, masks);
  }
  throw std::logic_error("family without a case");
}

}  // namespace transformer
