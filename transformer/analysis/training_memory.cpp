#include "transformer/analysis/training_memory.h"

#include <algorithm>

#include "transformer/analysis/decoding_cache.h"
#include "transformer/analysis/parameters.h"

namespace transformer {

namespace {

constexpr double kFloat = sizeof(float);
// Blocks of memory are rounded up to one of eight steps between powers of two
// (kernels/cached_memory.h): by a sixteenth on average.
constexpr double kBlock = 1 + 1.0 / 16;

// Widths as doubles: products of them leave 64 bits.
struct KeptWidths {
  explicit KeptWidths(const ModelConfig& model)
      : d_model(static_cast<double>(model.d_model)),
        h(static_cast<double>(model.h)),
        q(h * static_cast<double>(model.d_k)),
        kv(static_cast<double>(model.kv_heads * (model.d_k + model.d_v))),
        o(h * static_cast<double>(model.d_v)),
        inner(static_cast<double>(inner_tensors(model.feed_forward) +
                                  (model.activation_drop > 0 ? 1 : 0)) *
              static_cast<double>(model.inner_width())),
        angles(place_of(model.positions) == PositionPlace::queries_and_keys
                   ? static_cast<double>(model.d_k)
                   : 0),
        weights(model.attention_drop > 0 ? 2 * h : 0) {}

  // What a residual connection has normalized: the sum, its mean and deviation.
  double norm() const { return d_model + 2; }
  // Of a position that asks `keys`: the projection's input, q, the heads with their normalizers,
  // and the weights before and after dropout where they are kept.
  double query(double keys) const { return d_model + q + o + h + weights * keys + norm(); }
  double self_attention(double keys) const { return query(keys) + kv + angles; }
  double feed_forward() const { return d_model + inner + norm(); }

  double d_model, h, q, kv, o, inner, angles, weights;
};

// Rows of logits at a time, as in train/loss.cpp.
double block_of_logits(double tokens, double V) {
  const double most = std::clamp(double{1 << 25} / V, 128.0, 1024.0);
  return std::min(tokens, most) * V;
}

}  // namespace

BatchSize without_padding(const BatchShape& shape) {
  return {shape, shape.sentences * shape.source_length, shape.sentences * shape.target_length};
}

TrainingMemory training_memory(const ModelConfig& model, const BatchSize& batch) {
  const KeptWidths w(model);
  const BatchSize padded = without_padding(batch.shape);
  const bool pads = model.attention_drop > 0;
  const double is_read = reads_source(model.family) ? 1 : 0;
  const auto sources =
      is_read * static_cast<double>(pads ? padded.source_tokens : batch.source_tokens);
  const auto targets = static_cast<double>(pads ? padded.target_tokens : batch.target_tokens);
  const auto source_keys = static_cast<double>(batch.shape.source_length);
  const auto target_keys = static_cast<double>(batch.shape.target_length);
  const auto V = static_cast<double>(int64_t{model.V});

  const double alone = targets * (w.self_attention(target_keys) + w.feed_forward());
  const double of_source = sources * (w.self_attention(source_keys) + w.feed_forward() + w.kv) +
                           is_read * targets * w.query(source_keys);
  const double side_by_side = w.d_model * (w.q + w.kv + is_read * (w.q + w.kv + w.kv));
  // The word-pieces and their places, 64 bits each, and what goes into and comes out of the stacks.
  const double ends = (sources + targets) * (2 * w.d_model + 6);
  const double predicted = std::min(
      targets, static_cast<double>(batch.shape.sentences *
                                   predicted_pieces(model.family, batch.shape.target_length)));
  const double loss = block_of_logits(predicted, V) + w.d_model * (V + 2 * predicted);
  const double on_their_way =
      std::max(sources, targets) * (2 * w.d_model + std::max(w.inner, w.q + w.kv));
  const double layers = alone + of_source + side_by_side;
  const double numbers = static_cast<double>(model.N) * layers + ends + loss + on_their_way;
  return {.state = kBlock * 4 * kFloat * static_cast<double>(count_parameters(model).total()),
          .batch = kBlock * kFloat * numbers};
}

double search_memory(const ModelConfig& model, const DecodingConfig& decoding,
                     const SearchSize& size) {
  const auto sentences = static_cast<double>(size.sentences);
  const auto source = static_cast<double>(size.source_pieces);
  const auto beam = static_cast<double>(decoding.beam);
  const double rows = sentences * beam;
  int64_t room = 16;  // nn/decoder_cache.cpp
  while (room < size.pieces + 1) room *= 2;
  const auto rooms = static_cast<double>(2 * room - 16);
  const double position = cached_bytes(model, 8 * sizeof(float));
  const double cache = rows * rooms * (position + sizeof(int64_t));

  const KeptWidths w(model);
  const bool has_bias = place_of(model.positions) == PositionPlace::scores;
  const double bias = has_bias ? w.h * source * source * (sizeof(double) + kFloat) : 0;
  const double encoder = sentences * source * kFloat * (w.q + w.kv + w.inner) + bias;

  const double width = std::min(beam, static_cast<double>(int64_t{model.V}));
  constexpr double kFound = 8, kBest = 20, kContinuation = 24;  // bytes of each
  const double candidates = rows * width * (kFound * static_cast<double>(size.threads) + kBest) +
                            2 * beam * width * kContinuation;  // a list that grows is there twice
  return cache + 2 * sentences * source * position + encoder + candidates;
}

double run_memory(const Config& config, const BatchSize& largest) {
  constexpr int64_t kPieces = 32;
  const auto& model = config.model;
  const double training = training_memory(model, largest).total();
  const auto& decoding = config.decoding;
  const int64_t each = decoding.beam * (kPieces + decoding.max_extra_length);
  const int64_t sentences =
      std::clamp<int64_t>(decoding.tokens_per_batch / each, 1, decoding.sentences_per_batch);
  const SearchSize size{.sentences = sentences, .source_pieces = kPieces, .pieces = kPieces};
  const double search = reads_source(model.family) ? search_memory(model, decoding, size) : 0;
  const double weights = kFloat * static_cast<double>(count_parameters(model).total());
  // With the trained weights and their gradients stand those of the file that is evaluated.
  const double evaluation = 3 * weights + search;
  return std::min(training + search, 1.5 * std::max(training, evaluation)) + weights;
}

}  // namespace transformer
