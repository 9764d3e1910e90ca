#include "transformer/data/generated_pair.h"

#include <filesystem>
#include <map>
#include <set>
#include <sstream>

#include "tests/catch.h"
#include "tests/data/text.h"
#include "transformer/data/generated_grammar.h"
#include "transformer/error.h"

using namespace transformer;
using namespace transformer::testing;
using Catch::Matchers::Contains;
namespace fs = std::filesystem;

namespace {

// A few real words, so that every sentence below can be judged by who speaks the two languages.
const Noun kDog{"dog", "dogs", "Hund", "Hunde", "Hunde", Gender::masculine, true};
const Noun kWoman{"woman", "women", "Frau", "Frauen", "Frauen", Gender::feminine, true};
const Noun kHouse{"house", "houses", "Haus", "Häuser", "Haus", Gender::neuter, false};
const Noun kDoor{"door", "doors", "Tür", "Türen", "Tür", Gender::feminine, false};
const Noun kGarden{"garden", "gardens", "Garten", "Gärten", "Garten", Gender::masculine, false};
const Verb kBark{
    .english = "bark", .german = "bell", .separable = "", .frame = Frame::intransitive};
const Verb kSee{.english = "follow",
                .german = "verfolg",
                .separable = "",
                .ge = false,
                .frame = Frame::accusative};
const Verb kShut{
    .english = "shutter", .german = "mach", .separable = "zu", .frame = Frame::accusative};
const Verb kThank{.english = "thank", .german = "dank", .separable = "", .frame = Frame::dative};
const Verb kShow{
    .english = "show", .german = "zeig", .separable = "", .frame = Frame::ditransitive};
const Verb kSay{.english = "claim", .german = "sag", .separable = "", .frame = Frame::clausal};
const Verb kTravel{.english = "land",
                   .german = "reis",
                   .separable = "ab",
                   .sein = true,
                   .frame = Frame::intransitive};
const Verb kBe{.english = "be", .german = "sein", .separable = "", .frame = Frame::copula};
const Word kOld{"old", "alt"};
const Word kSmall{"small", "klein"};
const Word kLoudly{"loudly", "laut"};
const Word kToday{"today", "heute"};
const Word kBecause{"because", "weil"};
const Word kAnd{"and", "und"};

NounPhrase phrase(Determiner determiner, const Noun& noun, std::vector<const Word*> adjectives = {},
                  Number number = Number::singular) {
  NounPhrase phrase;
  phrase.determiner = determiner;
  phrase.noun = &noun;
  phrase.gender = noun.gender;
  phrase.animate = noun.animate;
  phrase.adjectives = std::move(adjectives);
  phrase.number = number;
  return phrase;
}

NounPhrase instead_of(const NounPhrase& other, NounPhrase::Kind kind) {
  auto phrase = other;
  phrase.kind = kind;
  return phrase;
}

NounPhrase speaker(Number number) {
  NounPhrase phrase;
  phrase.kind = NounPhrase::Kind::pronoun;
  phrase.person = Person::first;
  phrase.number = number;
  return phrase;
}

Clause clause(NounPhrase subject, const Verb& verb, Tense tense,
              std::vector<NounPhrase> objects = {}) {
  Clause clause;
  clause.subject = std::move(subject);
  clause.verb = &verb;
  clause.tense = tense;
  clause.objects = std::move(objects);
  return clause;
}

void check(const Sentence& sentence, const std::string& english, const std::string& german) {
  CHECK(in_english(sentence) == english);
  CHECK(in_german(sentence) == german);
}

using D = Determiner;
constexpr auto kPlural = Number::plural;

}  // namespace

TEST_CASE("generated pair: articles and adjectives agree in case, gender and number") {
  Sentence s;
  s.main = clause(phrase(D::the, kDog, {&kOld}), kSee, Tense::present,
                  {phrase(D::a, kHouse, {&kSmall})});
  check(s, "The old dog follows a small house.", "Der alte Hund verfolgt ein kleines Haus.");
  s.main =
      clause(phrase(D::a, kDog, {&kOld}), kSee, Tense::present, {phrase(D::the, kDog, {&kSmall})});
  check(s, "An old dog follows the small dog.", "Ein alter Hund verfolgt den kleinen Hund.");
  s.main = clause(phrase(D::the, kDog, {}, kPlural), kThank, Tense::past,
                  {phrase(D::many, kHouse, {&kSmall}, kPlural)});
  check(s, "The dogs thanked many small houses.", "Die Hunde dankten vielen kleinen Häusern.");
  s.main = clause(phrase(D::two, kWoman, {&kOld}, kPlural), kShow, Tense::past,
                  {phrase(D::my, kDog), phrase(D::this_, kDoor, {&kSmall})});
  check(s, "Two old women showed my dog this small door.",
        "Zwei alte Frauen zeigten meinem Hund diese kleine Tür.");
}

TEST_CASE("generated pair: the verb's parts go to the end of the clause") {
  Sentence s;
  s.main = clause(phrase(D::the, kWoman), kShut, Tense::present, {phrase(D::the, kDoor)});
  check(s, "The woman shutters the door.", "Die Frau macht die Tür zu.");
  s.main.tense = Tense::perfect;
  check(s, "The woman has shuttered the door.", "Die Frau hat die Tür zugemacht.");
  s.main.tense = Tense::future;
  check(s, "The woman will shutter the door.", "Die Frau wird die Tür zumachen.");
  s.main.tense = Tense::must;
  s.main.negated = true;
  check(s, "The woman must not shutter the door.", "Die Frau darf die Tür nicht zumachen.");
  s.main = clause(speaker(kPlural), kTravel, Tense::perfect);
  check(s, "We have landed.", "Wir sind abgereist.");
  s.main = clause(phrase(D::the, kDog), kSee, Tense::perfect, {phrase(D::the, kWoman)});
  check(s, "The dog has followed the woman.", "Der Hund hat die Frau verfolgt.");
}

TEST_CASE(
    "generated pair: second in a main clause, last in a subordinate one, first in a question") {
  Sentence s;
  s.main = clause(phrase(D::the, kWoman), kShut, Tense::present, {phrase(D::the, kDoor)});
  s.main.time = &kToday;
  check(s, "The woman shutters the door today.", "Die Frau macht heute die Tür zu.");
  s.main.time_first = true;
  check(s, "Today the woman shutters the door.", "Heute macht die Frau die Tür zu.");
  s.main.time = nullptr;
  s.main.time_first = false;
  s.question = true;
  check(s, "Does the woman shutter the door?", "Macht die Frau die Tür zu?");
  s.question = false;
  s.conjunction = &kBecause;
  s.link = Sentence::Link::subordinate;
  s.other = std::make_shared<Clause>(
      clause(phrase(D::my, kDog), kShut, Tense::present, {phrase(D::a, kDoor)}));
  check(s, "The woman shutters the door because my dog shutters a door.",
        "Die Frau macht die Tür zu, weil mein Hund eine Tür zumacht.");
  s.link = Sentence::Link::subordinate_first;
  s.other->tense = Tense::perfect;
  check(s, "Because my dog has shuttered a door, the woman shutters the door.",
        "Weil mein Hund eine Tür zugemacht hat, macht die Frau die Tür zu.");
  s.main = clause(phrase(D::the, kWoman), kSay, Tense::perfect);
  s.main.complement = s.other;
  s.link = Sentence::Link::none;
  check(s, "The woman has claimed that my dog has shuttered a door.",
        "Die Frau hat gesagt, dass mein Hund eine Tür zugemacht hat.");
}

TEST_CASE(
    "generated pair: a relative clause parts subject and verb, its pronoun agrees with both") {
  Sentence s;
  auto dog = phrase(D::the, kDog);
  dog.relative = std::make_shared<Clause>(
      clause(phrase(D::the, kWoman, {}, kPlural), kSee, Tense::present,
             {instead_of(phrase(D::the, kDog), NounPhrase::Kind::relative)}));
  s.main = clause(dog, kBark, Tense::present);
  s.main.adverb = &kLoudly;
  check(s, "The dog, whom the women follow, barks loudly.",
        "Der Hund, den die Frauen verfolgen, bellt laut.");
  auto doors = phrase(D::the, kDoor, {}, kPlural);
  doors.relative = std::make_shared<Clause>(
      clause(instead_of(doors, NounPhrase::Kind::relative), kBe, Tense::past));
  doors.relative->predicate = &kOld;
  s.main = clause(phrase(D::the, kWoman), kShut, Tense::perfect, {doors});
  check(s, "The woman has shuttered the doors, which were old.",
        "Die Frau hat die Türen, die alt waren, zugemacht.");
}

TEST_CASE("generated pair: it is er, sie or es as what it stands for") {
  for (const auto& [noun, english, german] :
       {std::tuple{&kGarden, "garden", "Der Garten ist alt, und er verfolgt"},
        std::tuple{&kDoor, "door", "Die Tür ist alt, und sie verfolgt"},
        std::tuple{&kHouse, "house", "Das Haus ist alt, und es verfolgt"}}) {
    Sentence s;
    const auto subject = phrase(D::the, *noun);
    s.main = clause(subject, kBe, Tense::present);
    s.main.predicate = &kOld;
    s.link = Sentence::Link::coordinate;
    s.conjunction = &kAnd;
    s.other = std::make_shared<Clause>(clause(instead_of(subject, NounPhrase::Kind::pronoun), kSee,
                                              Tense::present, {speaker(Number::singular)}));
    check(s, "The " + std::string(english) + " is old, and it follows me.",
          std::string(german) + " mich.");
  }
}

TEST_CASE("generated pair: compounds, genitives, negation and merged prepositions") {
  Sentence s;
  auto door = phrase(D::the, kDoor, {&kOld});
  door.modifier = &kGarden;
  door.possessor = std::make_shared<NounPhrase>(phrase(D::the, kHouse, {&kSmall}));
  s.main = clause(door, kBe, Tense::perfect);
  s.main.predicate = &kSmall;
  s.main.negated = true;
  check(s, "The old garden door of the small house has not been small.",
        "Die alte Gartentür des kleinen Hauss ist nicht klein gewesen.");  // generated nouns never
                                                                           // end in s
  s.main = clause(phrase(D::every, kDog), kSee, Tense::past, {phrase(D::a, kWoman, {&kOld})});
  s.main.negated = true;
  s.main.place = std::make_shared<PrepositionalPhrase>(
      PrepositionalPhrase{0, phrase(D::the, kGarden, {&kSmall})});
  check(s, "Every dog did not follow an old woman in the small garden.",
        "Jeder Hund verfolgte keine alte Frau im kleinen Garten.");
}

TEST_CASE("generated pair: the source determines the target") {
  const auto lexicon = make_lexicon(kFewestWords, 3);
  const Grammar grammar(lexicon);
  Random random(1);
  std::map<std::string, std::string> seen;
  int again = 0;
  for (int i = 0; i < 30000; ++i) {
    const auto sentence = grammar.draw(random);
    const auto [at, is_new] = seen.emplace(in_english(sentence), in_german(sentence));
    if (is_new) continue;
    ++again;
    REQUIRE(at->second == in_german(sentence));
  }
  REQUIRE(again > 300);
}

TEST_CASE("generated pair: every word of the lexicon is one word") {
  const auto lexicon = make_lexicon(2000, 1);
  std::set<std::string> english, german;
  size_t words = 0;
  const auto add = [&](const std::string& source, const std::string& target) {
    ++words;
    REQUIRE(english.insert(source).second);
    REQUIRE(german.insert(target).second);
  };
  for (const auto& noun : lexicon.nouns) add(noun.english, noun.german);
  for (const auto& frame : lexicon.verbs) {
    for (const auto& verb : frame) add(verb.english, verb.separable + verb.german);
  }
  for (const auto& adjective : lexicon.adjectives) add(adjective.english, adjective.german);
  for (const auto& adverb : lexicon.adverbs) add(adverb.english, adverb.german);
  REQUIRE(words == 2001);  // and to be
}

TEST_CASE("generated pair: frequencies fall with rank") {
  Random random(1);
  std::vector<int> counts(100);
  for (int i = 0; i < 100000; ++i) ++counts[zipf(100, random)];
  // Weight 1 / (rank + 6), rank from 0: first to last as 105 / 6, give or take chance.
  REQUIRE(counts[0] / static_cast<double>(counts[99]) == Approx(105.0 / 6).epsilon(0.25));
  REQUIRE(counts[0] / static_cast<double>(counts[10]) == Approx(16.0 / 6).epsilon(0.1));
}

TEST_CASE(
    "generated pair: splits share no sentence, lengths are kept, the same options give the same "
    "bytes") {
  const Folder folder;
  const GeneratedOptions options{.pairs = 400, .valid = 50, .test = 60, .words = 30, .longest = 8};
  generate_pair(options, folder / "a");
  generate_pair(options, folder / "b");
  auto longer = options;
  longer.pairs = 500;
  generate_pair(longer, folder / "c");
  auto other = options;
  other.seed = 2;
  generate_pair(other, folder / "d");
  std::set<std::string> sources;
  for (const auto& [name, count] : {std::pair{"train", 400}, {"valid", 50}, {"test", 60}}) {
    for (const std::string language : {".en", ".de"}) {
      const std::string file = name + language;
      REQUIRE(read_file(folder / ("a/" + file)) == read_file(folder / ("b/" + file)));
      REQUIRE(read_file(folder / ("a/" + file)) != read_file(folder / ("d/" + file)));
      if (count < 400)
        REQUIRE(read_file(folder / ("a/" + file)) == read_file(folder / ("c/" + file)));
    }
    std::istringstream lines(read_file(folder / "a" / (std::string(name) + ".en")));
    int lines_read = 0;
    for (std::string line; std::getline(lines, line); ++lines_read) {
      REQUIRE(sources.insert(line).second);
      std::istringstream words(line);
      const auto length = std::distance(std::istream_iterator<std::string>(words), {});
      REQUIRE((length >= 4 && length <= 8));
    }
    REQUIRE(lines_read == count);
  }
}

TEST_CASE("generated pair: what cannot be made is refused") {
  const Folder folder;
  REQUIRE_THROWS_WITH(generate_pair({.words = 5}, folder / "a"),
                      Contains("words: 5 is not in 20..100000"));
  REQUIRE_THROWS_WITH(generate_pair({.longest = 3}, folder / "a"), Contains("longest"));
  REQUIRE_THROWS_WITH(GeneratedPair(1'000'000'000, 8, 1), Contains("is not in 20..100000"));
  REQUIRE_THROWS_WITH(generate_pair({.pairs = 1'000'000, .words = 20, .longest = 4}, folder / "a"),
                      Contains("ask for fewer pairs or more words"));
}

TEST_CASE("generated pair: one that cannot be made leaves what was there as it was") {
  const Folder folder;
  const auto contents = [&](const fs::path& place) {
    std::map<std::string, std::string> all;
    for (const auto& entry : fs::directory_iterator(place)) {
      all[entry.path().filename().string()] = read_file(entry.path());
    }
    return all;
  };
  const GeneratedOptions too_many{
      .pairs = 1'000'000, .valid = 5, .test = 5, .words = 20, .longest = 4};
  REQUIRE_THROWS_AS(generate_pair(too_many, folder / "a"), UserError);
  REQUIRE(contents(folder / "a").empty());
  generate_pair({.pairs = 9, .valid = 5, .test = 7, .words = 20, .longest = 6}, folder / "a");
  const auto before = contents(folder / "a");
  REQUIRE(before.size() == 6);
  REQUIRE_THROWS_AS(generate_pair(too_many, folder / "a"), UserError);
  REQUIRE(contents(folder / "a") == before);
}
