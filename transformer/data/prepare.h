#pragma once

// From text to pairs of word-pieces: cleaned, binarised once, and found again.

#include <atomic>
#include <filesystem>
#include <string>

#include "transformer/config.h"
#include "transformer/data/corpus.h"
#include "transformer/data/tokenizer.h"

namespace transformer {

struct Prepared {
  Corpus corpus;
  std::filesystem::path file;
  std::string note;  // empty where the file was found as it should be; else why it was made
};

// The pairs of data.train, cleaned. They are binarised into the folder `binarised` beside the
// vocabulary, under a lock, so that several processes may ask at once; later the file is found and
// used again as long as text, vocabularies and rules are the same. One that is stale or damaged is
// made again. Throws UserError where text is missing, sides differ in lines, or no pair is left,
// and Stopped (stopped.h) where `stop` asks for it: then there is no file.
Prepared prepare_training(const DataConfig& data, const Tokenizer& source, const Tokenizer& target,
                          const std::atomic<bool>* stop = nullptr);

// The same for data.valid, data.test or another prefix: every line is kept, and one that is not
// UTF-8 is a UserError. Pair i is line i.
Prepared prepare_evaluation(const std::string& prefix, const DataConfig& data,
                            const Tokenizer& source, const Tokenizer& target,
                            const std::atomic<bool>* stop = nullptr);

// Where a pair of data.train stands: "FILE: line N" of its source. Reads the text again.
std::string place_of_training_pair(const DataConfig& data, const Tokenizer& source,
                                   const Tokenizer& target, int64_t pair);

}  // namespace transformer
