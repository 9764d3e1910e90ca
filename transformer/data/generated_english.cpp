#include "transformer/data/generated_syntax.h"

namespace transformer {

std::string spell(const std::vector<std::string>& words, char mark) {
  std::string line;
  for (size_t i = 0; i < words.size(); ++i) {
    if (words[i] == ",") {
      const bool closes = i + 1 < words.size() && words[i + 1] != ",";
      if (closes) line += ",";
    } else {
      line += (line.empty() ? "" : " ") + words[i];
    }
  }
  if (line[0] >= 'a' && line[0] <= 'z') line[0] = static_cast<char>(line[0] - 'a' + 'A');
  return line + mark;
}

namespace {

using Words = std::vector<std::string>;

enum class Role { subject, object };

const char* pronoun(const NounPhrase& phrase, Role role) {
  const bool subject = role == Role::subject;
  if (phrase.person == Person::first) {
    return is_plural(phrase) ? (subject ? "we" : "us") : (subject ? "I" : "me");
  }
  if (is_plural(phrase)) return subject ? "they" : "them";
  if (!phrase.animate) return "it";
  const bool he = phrase.gender == Gender::masculine;
  return subject ? (he ? "he" : "she") : (he ? "him" : "her");
}

const char* determiner(Determiner determiner, bool plural, char next) {
  switch (determiner) {
    case Determiner::the:
      return "the";
    case Determiner::a:
      return std::string_view("aeiou").find(next) == std::string::npos ? "a" : "an";
    case Determiner::this_:
      return plural ? "these" : "this";
    case Determiner::every:
      return "every";
    case Determiner::my:
      return "my";
    case Determiner::our:
      return "our";
    case Determiner::some:
      return "some";
    case Determiner::many:
      return "many";
    case Determiner::two:
      return "two";
    case Determiner::three:
      return "three";
    case Determiner::four:
      return "four";
  }
  return "";
}

void say_clause(const Clause& clause, Words& words);

void say(const NounPhrase& phrase, Role role, Words& words) {
  switch (phrase.kind) {
    case NounPhrase::Kind::pronoun:
      words.emplace_back(pronoun(phrase, role));
      return;
    case NounPhrase::Kind::relative:
      words.emplace_back(!phrase.animate ? "which" : role == Role::subject ? "who" : "whom");
      return;
    case NounPhrase::Kind::noun:
      break;
  }
  Words rest;
  for (const auto* adjective : phrase.adjectives) rest.push_back(adjective->english);
  if (phrase.modifier) rest.push_back(phrase.modifier->english);
  rest.push_back(is_plural(phrase) ? phrase.noun->english_plural : phrase.noun->english);
  words.emplace_back(determiner(phrase.determiner, is_plural(phrase), rest[0][0]));
  words.insert(words.end(), rest.begin(), rest.end());
  if (phrase.possessor) {
    words.emplace_back("of");
    say(*phrase.possessor, Role::object, words);
  }
  if (phrase.relative) {
    words.emplace_back(",");
    say_clause(*phrase.relative, words);
    words.emplace_back(",");
  }
}

// The auxiliary, which a question puts first, and the rest of the verb.
struct EnglishVerb {
  std::string auxiliary;
  std::string rest;
};

EnglishVerb copula(const Clause& clause) {
  const auto& subject = clause.subject;
  const bool plural = is_plural(subject);
  const bool first = subject.person == Person::first;
  switch (clause.tense) {
    case Tense::present:
      return {plural ? "are" : first ? "am" : "is", ""};
    case Tense::past:
      return {plural ? "were" : "was", ""};
    case Tense::perfect:
      return {plural || first ? "have" : "has", "been"};
    case Tense::future:
      return {"will", "be"};
    case Tense::must:
      return {"must", "be"};
    case Tense::can:
      return {"can", "be"};
  }
  return {};
}

EnglishVerb verb_group(const Clause& clause, bool needs_auxiliary) {
  const auto& verb = *clause.verb;
  if (verb.frame == Frame::copula) return copula(clause);
  const bool third = !is_plural(clause.subject) && clause.subject.person == Person::third;
  switch (clause.tense) {
    case Tense::present:
      if (needs_auxiliary) return {third ? "does" : "do", verb.english};
      return {"", verb.english + (third ? "s" : "")};
    case Tense::past:
      if (needs_auxiliary) return {"did", verb.english};
      return {"", verb.english + "ed"};
    case Tense::perfect:
      return {third ? "has" : "have", verb.english + "ed"};
    case Tense::future:
      return {"will", verb.english};
    case Tense::must:
      return {"must", verb.english};
    case Tense::can:
      return {"can", verb.english};
  }
  return {};
}

bool is_relative(const NounPhrase& phrase) { return phrase.kind == NounPhrase::Kind::relative; }

void say_after_verb(const Clause& clause, Words& words) {
  for (const auto& object : clause.objects) {
    if (!is_relative(object)) say(object, Role::object, words);
  }
  if (clause.predicate) words.push_back(clause.predicate->english);
  if (clause.adverb) words.push_back(clause.adverb->english);
  if (clause.place) {
    words.emplace_back(kPrepositions[clause.place->preposition].english);
    say(clause.place->object, Role::object, words);
  }
  if (clause.time && !clause.time_first) words.push_back(clause.time->english);
  if (clause.complement) {
    words.emplace_back("that");
    say_clause(*clause.complement, words);
  }
}

void add(Words& words, const std::string& word) {
  if (!word.empty()) words.push_back(word);
}

void say_clause(const Clause& clause, Words& words) {
  if (clause.time && clause.time_first) words.push_back(clause.time->english);
  for (const auto& object : clause.objects) {
    if (is_relative(object)) say(object, Role::object, words);
  }
  say(clause.subject, Role::subject, words);
  const auto group = verb_group(clause, clause.negated);
  add(words, group.auxiliary);
  if (clause.negated) words.emplace_back("not");
  add(words, group.rest);
  say_after_verb(clause, words);
}

void ask(const Clause& clause, Words& words) {
  const auto group = verb_group(clause, true);
  words.push_back(group.auxiliary);
  say(clause.subject, Role::subject, words);
  add(words, group.rest);
  say_after_verb(clause, words);
}

}  // namespace

std::string in_english(const Sentence& sentence) {
  Words words;
  if (sentence.question) {
    ask(sentence.main, words);
    return spell(words, '?');
  }
  if (sentence.link == Sentence::Link::subordinate_first) {
    words.push_back(sentence.conjunction->english);
    say_clause(*sentence.other, words);
    words.emplace_back(",");
  }
  say_clause(sentence.main, words);
  if (sentence.link == Sentence::Link::coordinate) words.emplace_back(",");
  if (sentence.link == Sentence::Link::coordinate || sentence.link == Sentence::Link::subordinate) {
    words.push_back(sentence.conjunction->english);
    say_clause(*sentence.other, words);
  }
  return spell(words, '.');
}

}  // namespace transformer
