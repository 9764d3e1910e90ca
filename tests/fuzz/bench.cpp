#include <algorithm>

#include "tests/fuzz/targets.h"
#include "tools/commands/bench_work.h"

namespace transformer::fuzz {

void bench(const std::string& bytes) {
  constexpr int64_t kV = 100;
  constexpr int64_t kTokensPerBatch = 500;
  const auto path = file_with("work.txt", bytes);
  unless_refused([&] {
    for (const auto& sentence : read_sentences(path, kV)) {
      for (const int32_t piece : sentence) promise(piece >= 0 && piece < kV, "an id is a piece's");
    }
  });
  const auto pairs = read_lengths(path);
  int64_t sentences = 0;
  for (const auto& batch : batches_of(pairs, kTokensPerBatch, kV, kV)) {
    promise(batch.sentences * std::max(batch.source_length, batch.target_length) <= kTokensPerBatch,
            "a batch is within the budget");
    sentences += batch.sentences;
  }
  promise(sentences == std::ssize(pairs), "every pair is in a batch");
}

}  // namespace transformer::fuzz
