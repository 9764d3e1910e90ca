#include "tools/commands/bench_work.h"

#include <algorithm>
#include <charconv>
#include <sstream>
#include <string>

#include "transformer/data/lines.h"
#include "transformer/data/tokenizer.h"
#include "transformer/error.h"
#include "transformer/fields.h"
#include "transformer/random.h"

namespace transformer {

namespace {

constexpr int64_t kSpecialPieces = 4;  // pad, unknown, begin and end of sentence

Batch batch_of(const std::vector<PairLengths>& pairs, int64_t source_V, int64_t target_V,
               Random& random) {
  Batch batch;
  batch.sentences = std::ssize(pairs);
  for (const auto& pair : pairs) {
    batch.source_length = std::max(batch.source_length, pair.source);
    batch.target_length = std::max(batch.target_length, pair.target);
    batch.source_tokens += pair.source;
    batch.target_tokens += pair.target;
    batch.chosen_tokens += chosen_pieces(pair.target - 1);
  }
  const auto piece = [&](int64_t V) {
    return static_cast<int32_t>(kSpecialPieces +
                                random.below(static_cast<uint64_t>(V - kSpecialPieces)));
  };
  for (const auto& pair : pairs) {
    for (int64_t i = 0; i < batch.source_length; ++i) {
      batch.source.push_back(i + 1 < pair.source    ? piece(source_V)
                             : i + 1 == pair.source ? kEos
                                                    : kPad);
    }
    int32_t previous = kBos;
    for (int64_t i = 0; i < batch.target_length; ++i) {
      const int32_t next = i + 1 < pair.target    ? piece(target_V)
                           : i + 1 == pair.target ? kEos
                                                  : kPad;
      batch.target_input.push_back(i < pair.target ? previous : kPad);
      batch.target_output.push_back(next);
      previous = next;
    }
    batch.rows.push_back(std::ssize(batch.rows));
  }
  return batch;
}

}  // namespace

std::vector<PairLengths> read_lengths(const std::filesystem::path& file) {
  LineReader reader(file);
  std::vector<PairLengths> pairs;
  for (std::string line; reader.next(line);) {
    std::istringstream words(line);
    PairLengths pair;
    std::string rest;
    if (!(words >> pair.source >> pair.target) || words >> rest || pair.source < 1 ||
        pair.target < 1 || std::max(pair.source, pair.target) > 100000) {
      throw UserError(file.string() + ": line " + std::to_string(pairs.size() + 1) +
                      ": expected two lengths in 1..100000, \"source target\"");
    }
    pairs.push_back(pair);
  }
  if (pairs.empty()) throw UserError(file.string() + ": no lengths");
  return pairs;
}

std::vector<PairLengths> usual_lengths() {
  constexpr int kPairs = 2000;
  std::vector<PairLengths> pairs;
  Random random(stream_seed(1, "bench lengths"));
  for (int i = 0; i < kPairs; ++i) {
    // The mean of three uniform numbers has most of its weight in the middle.
    const double middle = (random.uniform() + random.uniform() + random.uniform()) / 3;
    const auto source = static_cast<int64_t>(4 + 46 * middle);
    const auto target =
        static_cast<int64_t>(static_cast<double>(source) * (0.85 + 0.4 * random.uniform()));
    pairs.push_back({source + 1, target + 1});
  }
  std::ranges::sort(pairs, [](const PairLengths& a, const PairLengths& b) {
    return std::pair(a.target, a.source) < std::pair(b.target, b.source);
  });
  return pairs;
}

std::vector<Batch> batches_of(const std::vector<PairLengths>& pairs, int64_t tokens_per_batch,
                              int64_t source_V, int64_t target_V) {
  Random random(stream_seed(1, "bench pieces"));
  std::vector<Batch> batches;
  std::vector<PairLengths> batch;
  int64_t longest = 0;
  for (const auto& pair : pairs) {
    const int64_t longer = std::max(pair.source, pair.target);
    if (longer > tokens_per_batch) {
      throw UserError("data.tokens_per_batch: " + std::to_string(tokens_per_batch) +
                      " is less than one sentence of " + std::to_string(longer));
    }
    if (std::max(longest, longer) * (std::ssize(batch) + 1) > tokens_per_batch) {
      batches.push_back(batch_of(batch, source_V, target_V, random));
      batch.clear();
      longest = 0;
    }
    batch.push_back(pair);
    longest = std::max(longest, longer);
  }
  batches.push_back(batch_of(batch, source_V, target_V, random));
  return batches;
}

std::vector<std::vector<int32_t>> read_sentences(const std::filesystem::path& file, int64_t V) {
  LineReader reader(file);
  std::vector<std::vector<int32_t>> sentences;
  for (std::string line; reader.next(line);) {
    const std::string where = file.string() + ": line " + std::to_string(reader.number()) + ": ";
    std::istringstream words(line);
    std::vector<int32_t> pieces;
    for (std::string word; words >> word;) {
      int32_t piece = 0;
      const char* last = word.data() + word.size();
      const auto [end, error] = std::from_chars(word.data(), last, piece);
      if (error != std::errc() || end != last || piece < 0 || piece >= V) {
        throw UserError(where + "expected numbers of word-pieces in 0.." + std::to_string(V - 1) +
                        "; got " + fields::shown_name(word));
      }
      pieces.push_back(piece);
    }
    if (pieces.empty()) throw UserError(where + "expected numbers of word-pieces; got none");
    pieces.push_back(kEos);
    sentences.push_back(std::move(pieces));
  }
  if (sentences.empty()) throw UserError(file.string() + ": expected a sentence a line");
  return sentences;
}

}  // namespace transformer
