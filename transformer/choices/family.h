#pragma once

// model.family: which of figure 1's two stacks a model has, and what it learns to predict.

#include <algorithm>
#include <array>
#include <cstdint>
#include <stdexcept>

namespace transformer {

// encoder_decoder: the paper's. Translates: each target word-piece, given the source and what was
// written before it.
// decoder_only: the decoder without cross-attention (Radford et al. 2018). Next-token language
// modelling on the target side: each word-piece, end-of-sentence included, given those before it.
// encoder_only: the encoder (Devlin et al. 2018, section 3.1). Masked tokens on the target side: a
// share of the word-pieces, given all others on both sides.
enum class Family { encoder_decoder, decoder_only, encoder_only };
constexpr auto names(Family) {
  return std::array{"encoder_decoder", "decoder_only", "encoder_only"};
}

constexpr bool has_encoder(Family family) {
  switch (family) {
    case Family::encoder_decoder:
    case Family::encoder_only:
      return true;
    case Family::decoder_only:
      return false;
  }
  throw std::logic_error("family without a case");
}

constexpr bool has_decoder(Family family) {
  switch (family) {
    case Family::encoder_decoder:
    case Family::decoder_only:
      return true;
    case Family::encoder_only:
      return false;
  }
  throw std::logic_error("family without a case");
}

// Whether the decoder has a memory to look at: then there is a source, and cross-attention to it.
// A model with one stack alone has its target side.
constexpr bool reads_source(Family family) { return has_encoder(family) && has_decoder(family); }

// Whether it gives a target sentence a probability, word-piece by word-piece.
constexpr bool scores_sentences(Family family) { return has_decoder(family); }

// Of the n word-pieces of a sentence a masked-token task chooses 15 %, to the nearest whole number,
// and one at least where there is one.
constexpr int64_t chosen_pieces(int64_t n) {
  return n <= 0 ? 0 : std::max<int64_t>(1, (15 * n + 50) / 100);
}

// How many word-pieces of a target sentence of `length`, end-of-sentence included, are predicted:
// what the loss and the perplexity are the mean over. End-of-sentence is never masked.
constexpr int64_t predicted_pieces(Family family, int64_t length) {
  return has_decoder(family) ? length : chosen_pieces(length - 1);
}

}  // namespace transformer
