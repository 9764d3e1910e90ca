#pragma once

// The words of the generated language pair. Words of the open classes are built from syllables;
// each English one has exactly one German one.

#include <cstdint>
#include <string>
#include <vector>

#include "transformer/random.h"

namespace transformer {

enum class Gender { masculine, feminine, neuter };

struct Noun {
  std::string english, english_plural;
  std::string german, german_plural;  // nominative
  std::string german_modifier;        // as the first part of a compound
  Gender gender = Gender::masculine;  // to be learned with the noun: nothing in its form tells
  bool animate = false;               // who, he or she; else which, it
};

// What a verb wants besides its subject. dative: one object, in the dative. clausal: a that-clause.
enum class Frame { intransitive, accusative, dative, ditransitive, clausal, copula };
constexpr int kFrames = 6;

struct Verb {
  std::string english;
  std::string german;     // stem
  std::string separable;  // prefix that goes to the end of a main clause; often empty
  bool ge = true;         // participle with ge-, or without after an inseparable prefix
  bool sein = false;      // perfect with sein rather than haben
  Frame frame = Frame::intransitive;
};

struct Word {
  std::string english, german;
};

// Each list begins with its most frequent word.
struct Lexicon {
  std::vector<Noun> nouns;
  std::vector<std::vector<Verb>> verbs;  // by frame
  std::vector<Word> adjectives;
  std::vector<Word> adverbs;  // of manner
};

constexpr int64_t kFewestWords = 20;
constexpr int64_t kMostWords = 100'000;  // what the syllables tell apart without long search

// `words` in all, of the open classes: half nouns, a quarter verbs, a fifth adjectives, the rest
// adverbs. The same seed gives the same words on every machine. Throws UserError where there are
// fewer than kFewestWords, or more than syllables can tell apart.
Lexicon make_lexicon(int64_t words, int64_t seed);

// The index of a word, drawn so that frequencies fall with rank as in Zipf's law.
size_t zipf(size_t count, Random& random);

}  // namespace transformer
