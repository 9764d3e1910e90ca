#pragma once

// model.positions: all that tells one way of saying where a word-piece stands from another.

#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <stdexcept>

namespace transformer {

// sinusoidal: section 3.5, sine in the even columns and cosine in the odd ones.
// sinusoidal_concatenated: all sines, then all cosines, as tensor2tensor and fairseq have it.
// learned: section 3.5 too, a table of max_positions rows.
// rope: queries and keys are turned by angles that grow with the position (Su et al. 2021).
// alibi: scores fall with the distance of query and key, -slope · |i - j| (Press et al. 2022).
// The last two act in the self-attentions: between target and source there is no distance.
enum class PositionKind { sinusoidal, sinusoidal_concatenated, learned, rope, alibi, none };
constexpr auto names(PositionKind) {
  return std::array{"sinusoidal", "sinusoidal_concatenated", "learned", "rope", "alibi", "none"};
}

enum class PositionPlace { table, learned_table, queries_and_keys, scores, nowhere };
constexpr PositionPlace place_of(PositionKind kind) {
  switch (kind) {
    case PositionKind::sinusoidal:
    case PositionKind::sinusoidal_concatenated:
      return PositionPlace::table;  // added to the embeddings
    case PositionKind::learned:
      return PositionPlace::learned_table;
    case PositionKind::rope:
      return PositionPlace::queries_and_keys;
    case PositionKind::alibi:
      return PositionPlace::scores;
    case PositionKind::none:
      return PositionPlace::nowhere;
  }
  throw std::logic_error("position kind without a case");
}

// Where kinds work on pairs of columns, pair i of `width` belongs to the angle position /
// 10000^(2i / width). positions: [length, 1], columns: [width / 2] = 0, 2, 4, ... Returns [length,
// width / 2].
template <class Tensor>
Tensor angles(const Tensor& positions, const Tensor& columns, int64_t width) {
  return positions * (columns * (-std::log(10000.0) / static_cast<double>(width))).exp();
}

// For kinds with a table. angle: [length, d_model / 2]. Returns [length, d_model].
template <class Tensor>
Tensor table_of(PositionKind kind, const Tensor& angle) {
  const std::array<Tensor, 2> both = {angle.sin(), angle.cos()};
  return kind == PositionKind::sinusoidal_concatenated ? cat(both, 1) : stack(both, 2).flatten(1);
}

// For kinds on queries and keys: columns 2i and 2i + 1 as a point that is turned by its angle.
// x: [..., d_k], cosine and sine: [..., d_k / 2], or what spreads to it. Returns the shape of x.
template <class Tensor>
Tensor turned(const Tensor& x, const Tensor& cosine, const Tensor& sine) {
  const Tensor pairs = x.unflatten(-1, {x.size(-1) / 2, 2});
  const Tensor first = pairs.select(-1, 0);
  const Tensor second = pairs.select(-1, 1);
  const std::array<Tensor, 2> both = {first * cosine - second * sine,
                                      first * sine + second * cosine};
  return stack(both, -1).flatten(-2);
}

// For kinds on scores: what is taken away for each word-piece between, of head 0 .. h - 1. For h a
// power of two 2^(-8 / h), 2^(-16 / h), ...; else those of the power below, then every second of
// those of the power above.
inline double distance_slope(int64_t head, int64_t h) {
  int64_t power = 1;
  while (2 * power <= h) power *= 2;
  const auto below = static_cast<double>(power);
  return head < power ? std::exp2(-8.0 * static_cast<double>(head + 1) / below)
                      : std::exp2(-4.0 * static_cast<double>(2 * (head - power) + 1) / below);
}

}  // namespace transformer
