#pragma once

#include <atomic>
#include <ostream>
#include <string>
#include <vector>

#include "transformer/config.h"
#include "transformer/data/corpus.h"
#include "transformer/data/parallel_text.h"
#include "transformer/data/tokenizer.h"

namespace transformer {

// keep: every pair, as it stands; a line that is not UTF-8 is a UserError. clean: by DataConfig's
// rules.
enum class Cleaning { keep, clean };

// Reads the pairs of `files` one file after the other and writes them as a Corpus, in order. Works
// on all cores and holds only a few thousand pairs at a time. Throws Stopped where `stop` asks.
Cleaned binarise(const std::vector<ParallelFiles>& files, Cleaning cleaning,
                 const DataConfig& rules, const Tokenizer& source, const Tokenizer& target,
                 const std::string& recipe, std::ostream& out, const std::atomic<bool>* stop);

// Where the corpus's pair stands: "FILE: line N" of its source. Reads the text again.
std::string place_of_pair(int64_t pair, const std::vector<ParallelFiles>& files, Cleaning cleaning,
                          const DataConfig& rules, const Tokenizer& source,
                          const Tokenizer& target);

}  // namespace transformer
