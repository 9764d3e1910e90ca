#include "transformer/data/generated_pair.h"

#include <algorithm>
#include <unordered_set>
#include <utility>
#include <vector>

#include "transformer/data/generated_grammar.h"
#include "transformer/error.h"
#include "transformer/files.h"
#include "transformer/fingerprint.h"

namespace transformer {

namespace {

constexpr int64_t kShortest = 4;  // words in a source sentence

int64_t count_words(const std::string& line) {
  return 1 + std::count(line.begin(), line.end(), ' ');
}

}  // namespace

struct GeneratedPair::State {
  Lexicon lexicon;
  Random random;
  int64_t longest;
  std::unordered_set<uint64_t> seen;  // checksums of source lines
};

GeneratedPair::GeneratedPair(int64_t words, int64_t longest, int64_t seed) {
  if (longest < kShortest) {
    throw UserError("longest: expected at least " + std::to_string(kShortest) + " words; got " +
                    std::to_string(longest));
  }
  state_ = std::make_unique<State>(
      State{make_lexicon(words, seed), Random(stream_seed(seed, "sentences")), longest, {}});
}

GeneratedPair::~GeneratedPair() = default;

GeneratedPair::Lines GeneratedPair::next() {
  constexpr int kTries = 1000;
  const Grammar grammar(state_->lexicon);
  for (int tries = 0; tries < kTries; ++tries) {
    const auto sentence = grammar.draw(state_->random);
    auto source = in_english(sentence);
    const int64_t words = count_words(source);
    if (words < kShortest || words > state_->longest) continue;
    if (!state_->seen.insert(checksum(source)).second) continue;
    return {std::move(source), in_german(sentence)};
  }
  throw UserError("words: " + std::to_string(state_->lexicon.nouns.size()) +
                  " nouns and what goes with them give no more than " +
                  std::to_string(state_->seen.size()) +
                  " different sentences; ask for fewer pairs or more words");
}

void generate_pair(const GeneratedOptions& options, const std::filesystem::path& folder) {
  GeneratedPair pair(options.words, options.longest, options.seed);
  make_folder(folder);
  const std::vector<std::pair<const char*, int64_t>> sets = {
      {"valid", options.valid}, {"test", options.test}, {"train", options.pairs}};
  std::vector<std::filesystem::path> files;
  for (const auto& [name, count] : sets) {
    for (const char* language : {".de", ".en"})
      files.push_back(folder / (std::string(name) + language));
  }
  write_files(files, [&](const std::vector<std::ostream*>& streams) {
    auto stream = streams.begin();
    for (const auto& [name, count] : sets) {
      std::ostream& target = **stream++;
      std::ostream& source = **stream++;
      for (int64_t i = 0; i < count; ++i) {
        const auto lines = pair.next();
        source << lines.source << "\n";
        target << lines.target << "\n";
      }
    }
  });
}

}  // namespace transformer
