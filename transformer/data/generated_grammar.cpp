#include "transformer/data/generated_grammar.h"

#include <array>

namespace transformer {

namespace {

const std::array<Word, 6> kTimes{{{"today", "heute"},
                                  {"now", "jetzt"},
                                  {"often", "oft"},
                                  {"yesterday", "gestern"},
                                  {"sometimes", "manchmal"},
                                  {"soon", "bald"}}};
const std::array<Word, 2> kCoordinating{{{"and", "und"}, {"but", "aber"}}};
const std::array<Word, 5> kSubordinating{{{"because", "weil"},
                                          {"when", "wenn"},
                                          {"although", "obwohl"},
                                          {"before", "bevor"},
                                          {"while", "während"}}};

// Where a clause stands decides what may be in it.
struct Setting {
  bool main = false;                       // may open with a time
  bool may_embed = false;                  // relative clauses and that-clauses
  const NounPhrase* antecedent = nullptr;  // what a third person's pronoun stands for
};

class Draw {
 public:
  Draw(const Lexicon& lexicon, Random& random) : lexicon_(lexicon), random_(random) {}

  Sentence sentence() {
    Sentence sentence;
    const uint64_t kind = random_.below(100);
    if (kind < 8) {
      sentence.question = true;
      sentence.main = clause({.may_embed = true});
      sentence.main.negated = false;
    } else if (kind < 50) {
      sentence.main = clause({.main = true, .may_embed = true});
    } else if (kind < 65) {
      join(sentence, Sentence::Link::coordinate);
    } else if (kind < 85) {
      join(sentence, Sentence::Link::subordinate);
    } else {
      join(sentence, Sentence::Link::subordinate_first);
    }
    return sentence;
  }

 private:
  bool chance(uint64_t percent) { return random_.below(100) < percent; }
  template <class List>
  const auto& uniform(const List& list) {
    return list[random_.below(list.size())];
  }
  template <class List>
  const auto& frequent(const List& list) {
    return list[zipf(list.size(), random_)];
  }

  // The clause that comes second may take up the first one's subject.
  void join(Sentence& sentence, Sentence::Link link) {
    sentence.link = link;
    const bool coordinate = link == Sentence::Link::coordinate;
    sentence.conjunction = coordinate ? &uniform(kCoordinating) : &uniform(kSubordinating);
    sentence.other = std::make_shared<Clause>();
    const bool other_first = link == Sentence::Link::subordinate_first;
    Clause& first = other_first ? *sentence.other : sentence.main;
    Clause& second = other_first ? sentence.main : *sentence.other;
    first = clause({.main = !other_first, .may_embed = chance(35)});
    second = clause({.may_embed = chance(20), .antecedent = &first.subject});
  }

  Determiner determiner(bool plural) {
    if (plural) {
      const uint64_t kind = random_.below(100);
      if (kind < 45) return Determiner::the;
      constexpr std::array kOthers{Determiner::this_, Determiner::some, Determiner::many,
                                   Determiner::my,    Determiner::our,  Determiner::two,
                                   Determiner::three, Determiner::four};
      return uniform(kOthers);
    }
    const uint64_t kind = random_.below(100);
    if (kind < 45) return Determiner::the;
    if (kind < 70) return Determiner::a;
    constexpr std::array kOthers{Determiner::this_, Determiner::every, Determiner::my,
                                 Determiner::our};
    return uniform(kOthers);
  }

  NounPhrase plain_phrase() {
    NounPhrase phrase;
    phrase.noun = &frequent(lexicon_.nouns);
    phrase.gender = phrase.noun->gender;
    phrase.animate = phrase.noun->animate;
    phrase.number = chance(32) ? Number::plural : Number::singular;
    phrase.determiner = determiner(phrase.number == Number::plural);
    const uint64_t adjectives = random_.below(100);
    for (int i = 0; i < (adjectives < 58 ? 0 : adjectives < 92 ? 1 : 2); ++i) {
      phrase.adjectives.push_back(&frequent(lexicon_.adjectives));
    }
    if (chance(10)) phrase.modifier = &frequent(lexicon_.nouns);
    return phrase;
  }

  // With "of the ..." and a relative clause at times.
  NounPhrase full_phrase(const Setting& setting, uint64_t relative_percent) {
    auto phrase = plain_phrase();
    if (chance(9)) {
      phrase.possessor = std::make_shared<NounPhrase>(plain_phrase());
      constexpr std::array kDefinite{Determiner::the, Determiner::the, Determiner::this_,
                                     Determiner::my};
      phrase.possessor->determiner = uniform(kDefinite);
    }
    // After "of" it would not be clear which noun the clause is about.
    if (setting.may_embed && !phrase.possessor && chance(relative_percent)) {
      phrase.relative = relative_clause(phrase);
    }
    return phrase;
  }

  static NounPhrase standing_for(const NounPhrase& phrase, NounPhrase::Kind kind) {
    NounPhrase other;
    other.kind = kind;
    other.number = phrase.number;
    other.person = phrase.person;
    other.gender = phrase.gender;
    other.animate = phrase.animate;
    return other;
  }

  NounPhrase subject(const Setting& setting) {
    if (setting.antecedent && chance(55)) {
      return standing_for(*setting.antecedent, NounPhrase::Kind::pronoun);
    }
    if (chance(9)) {
      NounPhrase speaker;
      speaker.kind = NounPhrase::Kind::pronoun;
      speaker.person = Person::first;
      speaker.animate = true;
      speaker.number = chance(40) ? Number::plural : Number::singular;
      return speaker;
    }
    return full_phrase(setting, 16);
  }

  Tense tense() {
    const uint64_t kind = random_.below(100);
    if (kind < 34) return Tense::present;
    if (kind < 54) return Tense::past;
    if (kind < 76) return Tense::perfect;
    if (kind < 86) return Tense::future;
    return kind < 93 ? Tense::must : Tense::can;
  }

  Frame frame(const Setting& setting) {
    const uint64_t kind = random_.below(100);
    if (kind < 38) return Frame::accusative;
    if (kind < 58) return Frame::intransitive;
    if (kind < 72) return Frame::dative;
    if (kind < 80) return Frame::ditransitive;
    if (kind < 90 || !setting.may_embed) return Frame::copula;
    return Frame::clausal;
  }

  void choose_verb(Clause& clause, Frame frame) {
    clause.verb = &frequent(lexicon_.verbs[static_cast<size_t>(frame)]);
    clause.tense = tense();
    clause.negated = chance(12);
  }

  // What may follow in any clause.
  void add_adverbials(Clause& clause, const Setting& setting) {
    if (clause.verb->frame == Frame::copula) {
      clause.predicate = &frequent(lexicon_.adjectives);
    } else {
      if (chance(14)) clause.adverb = &frequent(lexicon_.adverbs);
      if (chance(22)) {
        const size_t preposition = random_.below(std::size(kPrepositions));
        clause.place = std::make_shared<PrepositionalPhrase>(
            PrepositionalPhrase{preposition, full_phrase({}, 0)});
      }
    }
    if (chance(24)) {
      clause.time = &uniform(kTimes);
      clause.time_first = setting.main && chance(50);
    }
  }

  Clause clause(const Setting& setting) {
    Clause clause;
    clause.subject = subject(setting);
    choose_verb(clause, frame(setting));
    const auto frame = clause.verb->frame;
    const bool one = frame == Frame::accusative || frame == Frame::dative;
    if (one) clause.objects.push_back(object(clause.subject, setting));
    if (frame == Frame::ditransitive) {
      clause.objects = {full_phrase(setting, 0), full_phrase(setting, 8)};
    }
    add_adverbials(clause, setting);
    if (frame == Frame::clausal) {
      clause.adverb = nullptr;
      clause.place = nullptr;
      const auto* antecedent =
          clause.subject.kind == NounPhrase::Kind::noun ? &clause.subject : nullptr;
      clause.complement = std::make_shared<Clause>(this->clause({.antecedent = antecedent}));
    }
    return clause;
  }

  // The only object of a verb; a pronoun at times, where the subject is someone else.
  NounPhrase object(const NounPhrase& subject, const Setting& setting) {
    if (setting.antecedent && subject.kind == NounPhrase::Kind::noun && chance(40)) {
      return standing_for(*setting.antecedent, NounPhrase::Kind::pronoun);
    }
    return full_phrase(setting, 11);
  }

  // "who sees the dog" or "whom the dog sees"; nothing is embedded in it.
  std::shared_ptr<Clause> relative_clause(const NounPhrase& head) {
    auto clause = std::make_shared<Clause>();
    const auto relative = standing_for(head, NounPhrase::Kind::relative);
    const bool of_subject = chance(60);
    const uint64_t kind = random_.below(100);
    Frame frame = kind < 65 ? Frame::accusative : Frame::dative;
    if (of_subject && chance(35)) frame = chance(60) ? Frame::intransitive : Frame::copula;
    choose_verb(*clause, frame);
    if (of_subject) {
      clause->subject = relative;
      if (frame == Frame::accusative || frame == Frame::dative) clause->objects = {plain_phrase()};
    } else {
      clause->subject = plain_phrase();
      clause->objects = {relative};
    }
    add_adverbials(*clause, {});
    return clause;
  }

  const Lexicon& lexicon_;
  Random& random_;
};

}  // namespace

Sentence Grammar::draw(Random& random) const { return Draw(lexicon_, random).sentence(); }

}  // namespace transformer
