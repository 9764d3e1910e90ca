#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "transformer/data/corpus.h"
#include "transformer/data/parallel_text.h"
#include "transformer/data/prepare.h"
#include "transformer/data/tokenizer.h"

namespace transformer {

// keep: every pair, as it stands; a line that is not UTF-8 is a UserError. clean: by DataConfig's
// rules.
enum class Cleaning { keep, clean };

// Reads the pairs of `files` one file after the other, `lines` in all, and writes them as a Corpus,
// in order. Works on all cores and holds only a few thousand pairs at a time.
Cleaned binarise(const std::vector<ParallelFiles>& files, int64_t lines, Cleaning cleaning,
                 const DataConfig& rules, const Tokenizer& source, const Tokenizer& target,
                 const PrepareProgress& progress, const std::string& recipe, std::ostream& out);

// Where the corpus's pair stands: "FILE: line N" of its source. Reads the text again.
std::string place_of_pair(int64_t pair, const std::vector<ParallelFiles>& files, Cleaning cleaning,
                          const DataConfig& rules, const Tokenizer& source,
                          const Tokenizer& target);

}  // namespace transformer
