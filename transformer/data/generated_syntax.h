#pragma once

// What a generated sentence says, before either language puts it into words.

#include <memory>
#include <string>
#include <vector>

#include "transformer/data/generated_lexicon.h"

namespace transformer {

enum class Number { singular, plural };
enum class Person { first, third };
enum class Determiner { the, a, this_, every, my, our, some, many, two, three, four };
enum class Tense { present, past, perfect, future, must, can };

struct Clause;

// noun: a determiner and its noun. pronoun: I, we, he, she, it, they. relative: who, which, opening
// a relative clause. The last two carry the gender and number of what they stand for.
struct NounPhrase {
  enum class Kind { noun, pronoun, relative };
  Kind kind = Kind::noun;
  Number number = Number::singular;
  Person person = Person::third;
  Gender gender = Gender::masculine;
  bool animate = false;

  Determiner determiner = Determiner::the;
  std::vector<const Word*> adjectives;
  const Noun* modifier = nullptr;  // first part of a compound
  const Noun* noun = nullptr;
  std::shared_ptr<NounPhrase> possessor;
  std::shared_ptr<Clause> relative;
};

inline bool is_plural(const NounPhrase& phrase) { return phrase.number == Number::plural; }

struct PrepositionalPhrase {
  size_t preposition = 0;  // an index for preposition_english and its like
  NounPhrase object;
};

struct Clause {
  NounPhrase subject;
  const Verb* verb = nullptr;
  Tense tense = Tense::present;
  bool negated = false;
  std::vector<NounPhrase> objects;  // as the verb's frame says; ditransitive: first the dative one
  const Word* predicate = nullptr;  // adjective of a copula
  const Word* adverb = nullptr;
  std::shared_ptr<PrepositionalPhrase> place;
  const Word* time = nullptr;
  bool time_first = false;             // else it ends the English clause
  std::shared_ptr<Clause> complement;  // of a clausal verb
};

// A second clause after the first, or before it.
struct Sentence {
  enum class Link { none, coordinate, subordinate, subordinate_first };
  Clause main;
  Link link = Link::none;
  const Word* conjunction = nullptr;
  std::shared_ptr<Clause> other;
  bool question = false;
};

struct Preposition {
  const char* english;
  const char* german;
  bool dative;  // else accusative
};
constexpr Preposition kPrepositions[] = {
    {"in", "in", true},          {"with", "mit", true},      {"for", "für", false},
    {"from", "von", true},       {"without", "ohne", false}, {"near", "bei", true},
    {"through", "durch", false}, {"behind", "hinter", true}, {"against", "gegen", false},
    {"under", "unter", true},
};

// Words and commas, in order, to a line of text: capital first, the mark at the end.
std::string spell(const std::vector<std::string>& words, char mark);

std::string in_english(const Sentence& sentence);
std::string in_german(const Sentence& sentence);

}  // namespace transformer
