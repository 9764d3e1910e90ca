#pragma once

// Small text for the tests of the data part.

#include <filesystem>
#include <string>
#include <vector>

#include "tests/temporary_folder.h"
#include "transformer/config.h"
#include "transformer/data/corpus.h"
#include "transformer/data/tokenizer.h"
#include "transformer/files.h"
#include "transformer/random.h"

namespace transformer::testing {

using Folder = TemporaryFolder;

// Enough text to learn a few pieces from, in two languages.
inline void write_small_text(const Folder& folder) {
  put(folder / "train.en", "the dog sees the cat\nthe cat sleeps\na bird sings to the dog\n");
  put(folder / "train.de", "der Hund sieht die Katze\ndie Katze schläft\nein Vogel singt\n");
}

constexpr int64_t kSmallV = 300;  // 4 special pieces, 256 bytes, and 40 for characters and merges

inline Tokenizer small_tokenizer(const Folder& folder) {
  write_small_text(folder);
  train_vocabulary({.files = {folder / "train.en", folder / "train.de"},
                    .V = kSmallV,
                    .output = folder / "vocabulary.model"});
  return Tokenizer(folder / "vocabulary.model");
}

inline DataConfig small_data(const Folder& folder) {
  DataConfig data;
  data.train = {(folder / "train").string()};
  data.valid = (folder / "valid").string();
  data.vocabulary = (folder / "vocabulary.model").string();
  return data;
}

using Pairs = std::vector<std::pair<std::vector<int32_t>, std::vector<int32_t>>>;

inline Corpus make_corpus(const std::filesystem::path& file, const Pairs& pairs, int64_t V = 1000) {
  write_file(file, [&](std::ostream& out) {
    CorpusWriter writer(out, V, V);
    for (const auto& [source, target] : pairs) writer.add(source, target);
    writer.finish({.kept = static_cast<int64_t>(pairs.size())}, "{}");
  });
  return Corpus::open(file);
}

// Pairs of up to `longest` pieces a side; the source's first piece tells the pair's number.
inline Pairs random_pairs(int64_t count, uint64_t longest, uint64_t seed) {
  Random random(seed);
  Pairs pairs(static_cast<size_t>(count));
  for (size_t i = 0; i < pairs.size(); ++i) {
    pairs[i].first.assign(1 + random.below(longest), static_cast<int32_t>(4 + i % 990));
    pairs[i].second.assign(1 + random.below(longest), static_cast<int32_t>(4 + i * 7 % 990));
  }
  return pairs;
}

}  // namespace transformer::testing
