#pragma once

// What each family of models (model.family) is given of a batch of pairs, and what it is to
// predict.

#include <cstdint>
#include <string>

#include "transformer/config.h"
#include "transformer/data/batches.h"
#include "transformer/data/tokenizer.h"

namespace transformer {

// Stands where a word-piece is hidden. Vocabularies learned here spell what they lack in bytes, so
// that no text has this piece; of others it is what they lack, too.
constexpr int32_t kMaskPiece = kUnk;

// Word-pieces of the batch, which may be an outline, that are predicted: what a loss is the mean
// over.
int64_t predicted_tokens(Family family, const Batch& batch);

// Where masks come from. Every pair has a stream of its own, so that a sentence's masks are the
// same in whatever batch and on whatever rank it is.
struct MaskStream {
  int64_t seed = 0;
  std::string purpose = "masks of an evaluation";  // fixed by the data alone

  static MaskStream of_step(int64_t seed, int64_t step);
};

// A whole batch as a model of this family reads it. Without the source where it reads none. With
// masks (Devlin et al. 2018, section 3.1) where it is encoder_only: in each sentence
// chosen_pieces of its word-pieces are chosen, without end-of-sentence; of those 80 % become
// kMaskPiece, 10 % a piece drawn from all but the special ones, and 10 % stay. Then target_input is
// the sentence so changed, end-of-sentence last, and target_output has the chosen ones alone as
// they were, kPad elsewhere.
Batch for_task(const ModelConfig& model, Batch batch, const MaskStream& masks = {});

}  // namespace transformer
