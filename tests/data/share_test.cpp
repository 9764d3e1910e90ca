#include "transformer/data/share.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "tests/catch.h"
#include "tests/data/text.h"

using namespace transformer;
using namespace transformer::testing;

namespace {

std::vector<Batch> batches_of_plan(const Corpus& corpus, int64_t tokens_per_batch) {
  std::vector<Batch> batches;
  for (const auto& rows : plan_epoch(corpus, tokens_per_batch, 7, 0)) {
    batches.push_back(outline_of(corpus, rows));
  }
  return batches;
}

int64_t tokens_of(const std::vector<Batch>& batches) {
  return std::transform_reduce(
      batches.begin(), batches.end(), int64_t{0}, std::plus<>(),
      [](const Batch& batch) { return batch.source_tokens + batch.target_tokens; });
}

}  // namespace

TEST_CASE("shares: every sentence of a step falls to one rank, as many word-pieces to each") {
  constexpr int64_t kLongest = 20;  // a side, end of sentence not counted
  const Folder folder;
  const auto corpus = make_corpus(folder / "c", random_pairs(700, kLongest, 1));
  const auto all = batches_of_plan(corpus, 400);
  for (const int64_t ranks : {2, 3, 8}) {
    for (const size_t accumulate : {size_t{1}, size_t{3}, size_t{8}}) {
      for (size_t first = 0; first + accumulate <= all.size(); first += accumulate) {
        const auto begin = all.begin() + static_cast<std::ptrdiff_t>(first);
        const std::vector<Batch> step(begin, begin + static_cast<std::ptrdiff_t>(accumulate));
        std::multiset<int64_t> rows;
        const int64_t fair = tokens_of(step) / ranks;
        const auto divided = (static_cast<int64_t>(accumulate) + ranks - 1) / ranks;
        for (int64_t rank = 0; rank < ranks; ++rank) {
          const auto share = share_of(corpus, step, rank, ranks);
          REQUIRE(std::ssize(share) == divided);
          for (const auto& batch : share) rows.insert(batch.rows.begin(), batch.rows.end());
          // Half a sentence at either end of what each batch is cut into.
          REQUIRE(std::abs(tokens_of(share) - fair) <= divided * 2 * (kLongest + 1));
        }
        std::multiset<int64_t> want;
        for (const auto& batch : step) want.insert(batch.rows.begin(), batch.rows.end());
        REQUIRE(rows == want);
      }
    }
  }
}

TEST_CASE("shares: one rank alone has the batches themselves; a lone sentence is one rank's") {
  const Folder folder;
  const auto corpus = make_corpus(folder / "c", random_pairs(3, 5, 1));
  const std::vector<Batch> step = {make_batch(corpus, {2})};
  REQUIRE(share_of(corpus, step, 0, 1).front().source == step.front().source);
  int64_t sentences = 0;
  for (int64_t rank = 0; rank < 4; ++rank) {
    const auto share = share_of(corpus, step, rank, 4);
    REQUIRE(share.size() == 1);
    sentences += share.front().sentences;
  }
  REQUIRE(sentences == 1);
}
