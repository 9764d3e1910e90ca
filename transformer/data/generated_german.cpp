#include <array>

#include "transformer/data/generated_syntax.h"

namespace transformer {

namespace {

using Words = std::vector<std::string>;

enum class Case { nominative, accusative, dative, genitive };

// Tables are read by case, then by column: masculine, feminine, neuter, plural.
using Table = std::array<std::array<const char*, 4>, 4>;

constexpr Table kThe{{{"der", "die", "das", "die"},
                      {"den", "die", "das", "die"},
                      {"dem", "der", "dem", "den"},
                      {"des", "der", "des", "der"}}};
// Of dies-, jed-; of einig-, viel- in the plural; of adjectives where no determiner shows the case.
constexpr Table kStrong{{{"er", "e", "es", "e"},
                         {"en", "e", "es", "e"},
                         {"em", "er", "em", "en"},
                         {"es", "er", "es", "er"}}};
// Of ein, kein, mein, unser.
constexpr Table kEin{
    {{"", "e", "", "e"}, {"en", "e", "", "e"}, {"em", "er", "em", "en"}, {"es", "er", "es", "er"}}};
// Of adjectives after der and its like.
constexpr Table kWeak{{{"e", "e", "e", "en"},
                       {"en", "e", "e", "en"},
                       {"en", "en", "en", "en"},
                       {"en", "en", "en", "en"}}};
// Of adjectives after ein and its like.
constexpr Table kMixed{{{"er", "e", "es", "en"},
                        {"en", "e", "es", "en"},
                        {"en", "en", "en", "en"},
                        {"en", "en", "en", "en"}}};
constexpr Table kRelative{{{"der", "die", "das", "die"},
                           {"den", "die", "das", "die"},
                           {"dem", "der", "dem", "denen"},
                           {"dessen", "deren", "dessen", "deren"}}};
constexpr Table kPronoun{{{"er", "sie", "es", "sie"},
                          {"ihn", "sie", "es", "sie"},
                          {"ihm", "ihr", "ihm", "ihnen"},
                          {"seiner", "ihrer", "seiner", "ihrer"}}};
constexpr std::array<const char*, 4> kI{"ich", "mich", "mir", "meiner"};
constexpr std::array<const char*, 4> kWe{"wir", "uns", "uns", "unser"};

const char* look_up(const Table& table, Case c, const NounPhrase& phrase) {
  const auto column = is_plural(phrase) ? 3 : static_cast<size_t>(phrase.gender);
  return table[static_cast<size_t>(c)][column];
}

// A determiner in its form, and the endings that adjectives take after it.
struct Declined {
  std::string determiner;
  const Table& adjectives;
};

Declined decline(const NounPhrase& phrase, Case c, bool negated) {
  const auto strong = [&](const char* stem) {
    return stem + std::string(look_up(kStrong, c, phrase));
  };
  const auto ein = [&](const char* stem) { return stem + std::string(look_up(kEin, c, phrase)); };
  switch (phrase.determiner) {
    case Determiner::the:
      return {look_up(kThe, c, phrase), kWeak};
    case Determiner::a:
      return {ein(negated ? "kein" : "ein"), kMixed};
    case Determiner::this_:
      return {strong("dies"), kWeak};
    case Determiner::every:
      return {strong("jed"), kWeak};
    case Determiner::my:
      return {ein("mein"), kMixed};
    case Determiner::our:
      return {ein("unser"), kMixed};
    case Determiner::some:
      return {strong("einig"), kStrong};
    case Determiner::many:
      return {strong("viel"), kStrong};
    case Determiner::two:
      return {"zwei", kStrong};
    case Determiner::three:
      return {"drei", kStrong};
    case Determiner::four:
      return {"vier", kStrong};
  }
  return {"", kStrong};
}

std::string lower(std::string word) {
  if (word[0] >= 'A' && word[0] <= 'Z') word[0] = static_cast<char>(word[0] - 'A' + 'a');
  return word;
}

// The noun in its case, a compound in one word.
std::string decline_noun(const NounPhrase& phrase, Case c) {
  std::string noun = is_plural(phrase) ? phrase.noun->german_plural : phrase.noun->german;
  if (phrase.modifier) noun = phrase.modifier->german_modifier + lower(noun);
  if (is_plural(phrase)) return c == Case::dative && noun.back() != 'n' ? noun + "n" : noun;
  return c == Case::genitive && phrase.gender != Gender::feminine ? noun + "s" : noun;
}

// Where the finite verb stands: second in a main clause, first in a question, last in all others.
enum class Finite { first, second, last };
void say_clause(const Clause& clause, Finite finite, Words& words);

void say(const NounPhrase& phrase, Case c, Words& words, bool negated = false) {
  switch (phrase.kind) {
    case NounPhrase::Kind::pronoun:
      words.emplace_back(phrase.person == Person::third
                             ? look_up(kPronoun, c, phrase)
                             : (is_plural(phrase) ? kWe : kI)[static_cast<size_t>(c)]);
      return;
    case NounPhrase::Kind::relative:
      words.emplace_back(look_up(kRelative, c, phrase));
      return;
    case NounPhrase::Kind::noun:
      break;
  }
  const auto [determiner, endings] = decline(phrase, c, negated);
  words.push_back(determiner);
  for (const auto* adjective : phrase.adjectives) {
    words.push_back(adjective->german + look_up(endings, c, phrase));
  }
  words.push_back(decline_noun(phrase, c));
  if (phrase.possessor) say(*phrase.possessor, Case::genitive, words);
  if (phrase.relative) {
    words.emplace_back(",");
    say_clause(*phrase.relative, Finite::last, words);
    words.emplace_back(",");
  }
}

void say(const PrepositionalPhrase& place, Words& words) {
  const auto& preposition = kPrepositions[place.preposition];
  const size_t at = words.size();
  words.emplace_back(preposition.german);
  say(place.object, preposition.dative ? Case::dative : Case::accusative, words);
  constexpr std::array<std::array<const char*, 2>, 3> kMerged{
      {{"in", "im"}, {"von", "vom"}, {"bei", "beim"}}};
  for (const auto& [apart, merged] : kMerged) {
    if (words[at] == apart && words[at + 1] == "dem") {
      words[at] = merged;
      words.erase(words.begin() + static_cast<std::ptrdiff_t>(at) + 1);
    }
  }
}

// sein, haben, werden, müssen, dürfen, können; ich, er, plural.
using Forms = std::array<const char*, 3>;

std::string form(const Forms& forms, const NounPhrase& subject) {
  return forms[is_plural(subject) ? 2 : subject.person == Person::first ? 0 : 1];
}

// The finite verb, and what ends the clause.
struct GermanVerb {
  std::string finite;
  Words end;
  std::string separable;  // a prefix apart from the finite verb, or before it where that comes last
};

GermanVerb verb_group(const Clause& clause) {
  const auto& verb = *clause.verb;
  const auto& subject = clause.subject;
  const bool copula = verb.frame == Frame::copula;
  const std::string infinitive = verb.separable + verb.german + (copula ? "" : "en");
  const std::string participle =
      copula ? "gewesen" : verb.separable + (verb.ge ? "ge" : "") + verb.german + "t";
  constexpr Forms kSein{"bin", "ist", "sind"};
  switch (clause.tense) {
    case Tense::present:
      if (copula) return {form(kSein, subject), {}, ""};
      return {verb.german + form({"e", "t", "en"}, subject), {}, verb.separable};
    case Tense::past:
      if (copula) return {form({"war", "war", "waren"}, subject), {}, ""};
      return {verb.german + form({"te", "te", "ten"}, subject), {}, verb.separable};
    case Tense::perfect:
      return {form(verb.sein || copula ? kSein : Forms{"habe", "hat", "haben"}, subject),
              {participle},
              ""};
    case Tense::future:
      return {form({"werde", "wird", "werden"}, subject), {infinitive}, ""};
    case Tense::must:
      if (clause.negated) return {form({"darf", "darf", "dürfen"}, subject), {infinitive}, ""};
      return {form({"muss", "muss", "müssen"}, subject), {infinitive}, ""};
    case Tense::can:
      return {form({"kann", "kann", "können"}, subject), {infinitive}, ""};
  }
  return {};
}

Case object_case(const Clause& clause, size_t object) {
  const bool dative = clause.verb->frame == Frame::dative ||
                      (clause.verb->frame == Frame::ditransitive && object == 0);
  return dative ? Case::dative : Case::accusative;
}

// Objects, negation and adverbials between the subject and the end of the clause.
void say_middle(const Clause& clause, Words& words) {
  const auto& objects = clause.objects;
  for (size_t i = 0; i < objects.size(); ++i) {
    if (objects[i].kind == NounPhrase::Kind::pronoun)
      say(objects[i], object_case(clause, i), words);
  }
  if (clause.time && !clause.time_first) words.push_back(clause.time->german);
  bool nicht = clause.negated;
  for (size_t i = 0; i < objects.size(); ++i) {
    if (objects[i].kind != NounPhrase::Kind::noun) continue;
    // not + ein is kein, in the last object.
    const bool kein = nicht && i + 1 == objects.size() && objects[i].determiner == Determiner::a;
    say(objects[i], object_case(clause, i), words, kein);
    if (kein) nicht = false;
  }
  if (nicht) words.emplace_back("nicht");
  if (clause.adverb) words.push_back(clause.adverb->german);
  if (clause.place) say(*clause.place, words);
  if (clause.predicate) words.push_back(clause.predicate->german);
}

// Everything but the opening of the clause; the subject too where it is not that opening.
void say_rest(const Clause& clause, Finite finite, bool subject, Words& words) {
  const auto group = verb_group(clause);
  if (finite != Finite::last) words.push_back(group.finite);
  if (subject) say(clause.subject, Case::nominative, words);
  say_middle(clause, words);
  words.insert(words.end(), group.end.begin(), group.end.end());
  if (finite == Finite::last) {
    words.push_back(group.separable + group.finite);
  } else if (!group.separable.empty()) {
    words.push_back(group.separable);
  }
  if (clause.complement) {
    words.emplace_back(",");
    words.emplace_back("dass");
    say_clause(*clause.complement, Finite::last, words);
    words.emplace_back(",");
  }
}

void say_clause(const Clause& clause, Finite finite, Words& words) {
  if (finite == Finite::first) return say_rest(clause, finite, true, words);
  if (clause.time && clause.time_first) {
    words.push_back(clause.time->german);
    return say_rest(clause, finite, true, words);
  }
  for (size_t i = 0; i < clause.objects.size(); ++i) {
    if (clause.objects[i].kind != NounPhrase::Kind::relative) continue;
    say(clause.objects[i], object_case(clause, i), words);
    return say_rest(clause, finite, true, words);
  }
  say(clause.subject, Case::nominative, words);
  say_rest(clause, finite, false, words);
}

}  // namespace

std::string in_german(const Sentence& sentence) {
  Words words;
  switch (sentence.link) {
    case Sentence::Link::none:
      say_clause(sentence.main, sentence.question ? Finite::first : Finite::second, words);
      break;
    case Sentence::Link::coordinate:
      say_clause(sentence.main, Finite::second, words);
      words.emplace_back(",");
      words.push_back(sentence.conjunction->german);
      say_clause(*sentence.other, Finite::second, words);
      break;
    case Sentence::Link::subordinate:
      say_clause(sentence.main, Finite::second, words);
      words.emplace_back(",");
      words.push_back(sentence.conjunction->german);
      say_clause(*sentence.other, Finite::last, words);
      break;
    case Sentence::Link::subordinate_first:
      words.push_back(sentence.conjunction->german);
      say_clause(*sentence.other, Finite::last, words);
      words.emplace_back(",");
      say_clause(sentence.main, Finite::first, words);  // the clause before it is its opening
      break;
  }
  return spell(words, sentence.question ? '?' : '.');
}

}  // namespace transformer
