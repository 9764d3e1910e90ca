#pragma once

// Draws what a sentence says. Whatever comes out, its English determines its German.

#include "transformer/data/generated_syntax.h"

namespace transformer {

class Grammar {
 public:
  // Keeps a reference to the lexicon, as its sentences do.
  explicit Grammar(const Lexicon& lexicon) : lexicon_(lexicon) {}
  Sentence draw(Random& random) const;

 private:
  const Lexicon& lexicon_;
};

}  // namespace transformer
