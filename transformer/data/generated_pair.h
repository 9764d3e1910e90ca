#pragma once

// A language pair of our own: an English-like grammar with agreement in number, put into a
// German-like one with verbs last in subordinate clauses and second in main ones, case and gender
// agreement of articles and adjectives, separable prefixes and participles at the end, compounds in
// one word. The target follows from the source alone, so that a model can learn it completely;
// order and agreement reach far.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "transformer/random.h"

namespace transformer {

struct GeneratedOptions {
  int64_t pairs = 50000;  // of train
  int64_t valid = 1000;
  int64_t test = 1000;
  int64_t words = 2000;  // in the open classes
  int64_t longest = 25;  // words in a source sentence; 8 leaves simple clauses
  int64_t seed = 1;
};

// One sentence pair after another, none twice. The same options give the same pairs on every
// machine.
class GeneratedPair {
 public:
  GeneratedPair(int64_t words, int64_t longest, int64_t seed);
  ~GeneratedPair();
  struct Lines {
    std::string source, target;
  };
  Lines next();  // UserError where so few words give no further sentence

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Writes {valid,test,train}.{en,de} into the folder, all of them or none, train.en last: where it
// is there, all are of one pair. No sentence is in two of them. Valid and test are the same however
// long train is.
void generate_pair(const GeneratedOptions& options, const std::filesystem::path& folder);

}  // namespace transformer
