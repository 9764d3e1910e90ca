#include "transformer/data/generated_lexicon.h"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <unordered_set>

#include "transformer/error.h"

namespace transformer {

namespace {

using Syllables = std::vector<std::string_view>;

// A language's sounds. Stems end in `ends`, which take every ending without more ado.
struct Sounds {
  Syllables starts, vowels, middles, ends;
};

const Sounds kEnglish{
    {"b", "br", "c",  "cl", "d", "dr", "f",  "fl", "g",  "gr", "h",  "j",  "l", "m",
     "n", "p",  "pl", "qu", "r", "sc", "sh", "sp", "st", "t",  "th", "tr", "w"},
    {"a", "e", "i", "o", "u", "ee", "oo", "ai", "ow"},
    {"b", "ck", "dd", "ff", "l", "ll", "m", "mb", "n", "nd", "nt", "pp", "r", "rr", "st", "tt",
     "v"},
    {"b", "ck", "g", "ll", "lk", "m", "mp", "n", "nk", "p", "r", "rk", "rm", "rn", "t", "w"}};

const Sounds kGerman{
    {"b", "bl", "d",  "dr", "f", "g",   "gl",   "gr",   "h",  "j",   "k", "kl", "kr", "l",
     "m", "n",  "pf", "pr", "r", "sch", "schl", "schw", "sp", "str", "t", "tr", "w",  "z"},
    {"a", "e", "i", "o", "u", "ei", "au", "ie", "ä", "ö", "ü"},
    {"b", "ck", "ff", "g", "l", "ll", "lm", "m", "mm", "n", "nd", "ng", "nk", "r", "rt", "st",
     "tz"},
    {"b", "ck", "ch", "f", "g", "k", "l", "ll", "lm", "m", "mm", "ng", "nk", "p", "r", "rb", "rk"}};

// Words that the grammar puts between the others.
const std::unordered_set<std::string> kTaken{
    "a",    "an",   "am",   "are", "at",  "but", "can",  "did",  "do",   "for",  "from",
    "had",  "has",  "he",   "her", "him", "if",  "in",   "is",   "it",   "may",  "me",
    "my",   "not",  "now",  "of",  "or",  "our", "she",  "soon", "some", "that", "the",
    "them", "then", "they", "two", "we",  "was", "were", "who",  "whom", "will", "with",
    "am",   "der",  "die",  "das", "dem", "den", "des",  "wir",  "hat",  "mir",  "nie",
    "bei",  "um",   "im",   "vor", "auf", "bin", "war",  "mich", "ich",  "ihm",  "ihr"};

class Maker {
 public:
  explicit Maker(int64_t seed) : random_(stream_seed(seed, "lexicon")) {}

  bool chance(uint64_t percent) { return random_.below(100) < percent; }
  std::string_view pick(const Syllables& all) { return all[random_.below(all.size())]; }

  // A new stem: no form of it is a form of another word.
  std::string stem(const Sounds& sounds, const std::vector<std::string>& endings) {
    for (int tries = 0; tries < 10000; ++tries) {
      std::string word(pick(sounds.starts));
      word += pick(sounds.vowels);
      if (chance(55)) {
        word += pick(sounds.middles);
        word += pick(sounds.vowels);
      }
      word += pick(sounds.ends);
      std::vector<std::string> forms{word};
      for (const auto& ending : endings) forms.push_back(word + ending);
      const auto is_taken = [&](const auto& form) {
        return taken_.contains(form) || kTaken.contains(form);
      };
      if (std::any_of(forms.begin(), forms.end(), is_taken)) continue;
      taken_.insert(forms.begin(), forms.end());
      return word;
    }
    throw UserError("words: expected fewer; syllables tell no more apart");
  }
  std::string english() { return stem(kEnglish, {"s", "ed", "ly"}); }
  std::string german() { return stem(kGerman, {"e", "n", "en", "er", "s", "t", "te"}); }

  Noun noun();
  Verb verb(Frame frame);

 private:
  Random random_;
  std::unordered_set<std::string> taken_;
};

std::string capital(std::string word) {
  if (word[0] >= 'a' && word[0] <= 'z') word[0] = static_cast<char>(word[0] - 'a' + 'A');
  return word;
}

// The last a, o or u becomes ä, ö or ü, unless it is part of a diphthong.
std::string umlaut(std::string word) {
  const size_t at = word.find_last_of("aou");
  if (at == std::string::npos || word[at] == 'u') return word;  // u also ends au
  if (at + 1 < word.size() && word[at + 1] == 'u') return word;
  return word.replace(at, 1, word[at] == 'a' ? "ä" : "ö");
}

Noun Maker::noun() {
  Noun noun;
  noun.english = english();
  noun.english_plural = noun.english + "s";
  noun.animate = chance(40);
  noun.gender = static_cast<Gender>(random_.below(noun.animate ? 2 : 3));
  const std::string stem = german();
  noun.german = capital(stem);
  switch (noun.gender) {
    case Gender::masculine:
      noun.german_plural = capital(chance(50) ? umlaut(stem) : stem) + "e";
      noun.german_modifier = noun.german + (chance(40) ? "s" : "");
      break;
    case Gender::feminine:
      if (chance(50)) noun.german += "e";
      noun.german_plural = capital(stem) + "en";
      noun.german_modifier = noun.german + (noun.german.back() == 'e' ? "n" : "");
      break;
    case Gender::neuter:
      noun.german_plural = capital(chance(50) ? umlaut(stem) + "er" : stem + "e");
      noun.german_modifier = noun.german + (chance(30) ? "s" : "");
      break;
  }
  return noun;
}

Verb Maker::verb(Frame frame) {
  static const Syllables kSeparable{"ab", "an", "auf", "aus", "ein", "mit", "vor", "zu"};
  static const Syllables kInseparable{"be", "er", "ver", "zer"};
  Verb verb;
  verb.english = english();
  verb.german = german();
  verb.frame = frame;
  verb.sein = frame == Frame::intransitive && chance(40);
  if (chance(30)) {
    verb.separable = pick(kSeparable);
  } else if (chance(20)) {
    verb.german = std::string(pick(kInseparable)) + verb.german;
    verb.ge = false;
  }
  return verb;
}

}  // namespace

Lexicon make_lexicon(int64_t words, int64_t seed) {
  if (words < kFewestWords || words > kMostWords) {
    throw UserError("words: " + std::to_string(words) + " is not in " +
                    std::to_string(kFewestWords) + ".." + std::to_string(kMostWords));
  }
  const int64_t verbs = words / 4;
  const int64_t adjectives = words / 5;
  const int64_t adverbs = std::max<int64_t>(1, words / 20);
  Maker maker(seed);
  Lexicon lexicon;
  for (int64_t i = 0; i < words - verbs - adjectives - adverbs; ++i) {
    lexicon.nouns.push_back(maker.noun());
  }
  // The shares of the frames, dealt in turn so that each has its frequent and its rare verbs.
  constexpr std::array kTurn{Frame::accusative,   Frame::intransitive, Frame::dative,
                             Frame::ditransitive, Frame::clausal,      Frame::accusative,
                             Frame::intransitive, Frame::accusative,   Frame::dative,
                             Frame::accusative};
  lexicon.verbs.resize(kFrames);
  for (int64_t i = 0; i < verbs; ++i) {
    const Frame frame = kTurn[static_cast<size_t>(i) % kTurn.size()];
    lexicon.verbs[static_cast<size_t>(frame)].push_back(maker.verb(frame));
  }
  lexicon.verbs[static_cast<size_t>(Frame::copula)].push_back(
      {.english = "be", .german = "sein", .separable = "", .frame = Frame::copula});
  for (int64_t i = 0; i < adjectives; ++i) {
    const std::string english = maker.english();
    const std::string german = maker.german();
    const char* suffix = german.back() == 'l' ? "ig" : "lich";
    lexicon.adjectives.push_back({english, german + (maker.chance(30) ? suffix : "")});
  }
  for (int64_t i = 0; i < adverbs; ++i) {
    const std::string english = maker.english() + "ly";
    lexicon.adverbs.push_back({english, maker.german() + "weise"});
  }
  return lexicon;
}

size_t zipf(size_t count, Random& random) {
  // Weight 1 / (rank + kFlat): integers, so that every machine draws the same.
  constexpr uint64_t kScale = 1'000'000'000;
  constexpr uint64_t kFlat = 6;
  static thread_local std::vector<uint64_t> sums{0};
  while (sums.size() <= count) sums.push_back(sums.back() + kScale / (sums.size() - 1 + kFlat));
  const uint64_t drawn = random.below(sums[count]);
  const auto end = sums.begin() + static_cast<std::ptrdiff_t>(count) + 1;
  return static_cast<size_t>(std::upper_bound(sums.begin(), end, drawn) - sums.begin()) - 1;
}

}  // namespace transformer
