#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "transformer/config.h"
#include "transformer/data/batches.h"

namespace transformer {

// Work that is the same for every program that reads the same file: lengths of sentence pairs,
// filled with random word-pieces, or sentences' own word-pieces.

struct PairLengths {
  int64_t source = 0;  // word-pieces, end of sentence included
  int64_t target = 0;
};

// A line "source target" a pair. Throws UserError.
std::vector<PairLengths> read_lengths(const std::filesystem::path& file);

// Where no file is given: pairs as WMT14's are, most of 15 to 45 word-pieces, like lengths
// together. The same on every machine.
std::vector<PairLengths> usual_lengths();

// The pairs in their order, as many to a batch as sentences × longest <= tokens_per_batch allows on
// each side. Word-pieces are drawn from the vocabulary, special ones left out. Throws UserError
// where one pair alone is too long.
std::vector<Batch> batches_of(const std::vector<PairLengths>& pairs, int64_t tokens_per_batch,
                              int64_t source_V, int64_t target_V);

// A sentence a line: its word-pieces' numbers in 0..V - 1, with spaces between. End-of-sentence is
// added. Throws UserError.
std::vector<std::vector<int32_t>> read_sentences(const std::filesystem::path& file, int64_t V);

}  // namespace transformer
