#include "transformer/data/batches.h"

#include <algorithm>
#include <set>

#include "tests/catch.h"
#include "tests/data/text.h"
#include "transformer/error.h"

using namespace transformer;
using namespace transformer::testing;
using Catch::Matchers::Contains;

namespace {

std::vector<int64_t> sorted_rows(const std::vector<std::vector<int64_t>>& plan) {
  std::vector<int64_t> rows;
  for (const auto& batch : plan) rows.insert(rows.end(), batch.begin(), batch.end());
  std::sort(rows.begin(), rows.end());
  return rows;
}

std::vector<int64_t> count_to(int64_t n) {
  std::vector<int64_t> rows;
  for (int64_t i = 0; i < n; ++i) rows.push_back(i);
  return rows;
}

}  // namespace

TEST_CASE("batches: every pair once an epoch, within the budget on each side") {
  const Folder folder;
  const auto corpus = make_corpus(folder / "c", random_pairs(500, 20, 1));
  for (const int64_t budget : {21, 64, 300, 100000}) {
    for (int64_t epoch = 0; epoch < 3; ++epoch) {
      const auto plan = plan_epoch(corpus, budget, 7, epoch);
      REQUIRE(sorted_rows(plan) == count_to(500));
      for (const auto& rows : plan) {
        const auto batch = make_batch(corpus, rows);
        REQUIRE(batch.sentences * std::max(batch.source_length, batch.target_length) <= budget);
      }
    }
    REQUIRE(sorted_rows(plan_evaluation(corpus, budget)) == count_to(500));
  }
}

TEST_CASE("batches: outlines are the same batches without their word-pieces") {
  const Folder folder;
  const auto corpus = make_corpus(folder / "c", random_pairs(50, 20, 1));
  BatchStream whole(corpus, 64, 7, {});
  BatchStream outlines(corpus, 64, 7, {}, Contents::outline);
  for (int i = 0; i < 100; ++i) {  // several epochs
    const Batch batch = whole.next();
    const Batch outline = outlines.next();
    REQUIRE(outline.rows == batch.rows);
    REQUIRE(outline.sentences * outline.target_length == std::ssize(batch.target_output));
    REQUIRE(outline.source_length == batch.source_length);
    REQUIRE(outline.source_tokens == batch.source_tokens);
    REQUIRE(outline.target_tokens == batch.target_tokens);
    REQUIRE(
        (outline.source.empty() && outline.target_input.empty() && outline.target_output.empty()));
    REQUIRE(make_batch(corpus, outline.rows).source == batch.source);
    REQUIRE(outlines.position() == whole.position());
  }
}

TEST_CASE("batches: sentences of like length are together") {
  const Folder folder;
  const auto corpus = make_corpus(folder / "c", random_pairs(3000, 40, 2));
  int64_t real = 0, padded = 0;
  for (const auto& rows : plan_epoch(corpus, 400, 1, 0)) {
    const auto batch = make_batch(corpus, rows);
    real += batch.source_tokens + batch.target_tokens;
    padded += batch.sentences * (batch.source_length + batch.target_length);
  }
  REQUIRE(static_cast<double>(real) / static_cast<double>(padded) >
          0.85);  // in the order of the corpus: about 0.6
}

TEST_CASE("batches: seed and epoch alone decide") {
  const Folder folder;
  const auto pairs = random_pairs(300, 10, 3);
  const auto corpus = make_corpus(folder / "c", pairs);
  const auto first = plan_epoch(corpus, 50, 1, 0);
  REQUIRE(plan_epoch(make_corpus(folder / "d", pairs), 50, 1, 0) == first);
  const auto as_sets = [](const auto& plan) {
    std::set<std::set<int64_t>> sets;
    for (const auto& rows : plan) sets.emplace(rows.begin(), rows.end());
    return sets;
  };
  for (const auto& other : {plan_epoch(corpus, 50, 2, 0), plan_epoch(corpus, 50, 1, 1)}) {
    REQUIRE(other != first);
    REQUIRE(as_sets(other) != as_sets(first));  // other partners too
  }
}

TEST_CASE("batches: a pair over the budget is named; to evaluate on, it stands alone") {
  const Folder folder;
  const auto corpus = make_corpus(folder / "c", {{{5}, {6}}, {{5, 5, 5}, {6}}, {{5}, {6, 6}}});
  REQUIRE_THROWS_WITH(plan_epoch(corpus, 3, 1, 0),
                      Contains("pair 1 has 4 tokens on a side, the budget is 3"));
  REQUIRE(plan_evaluation(corpus, 3).size() == 3);
  REQUIRE(plan_evaluation(corpus, 4) == std::vector<std::vector<int64_t>>{{0}, {2}, {1}});
  REQUIRE(plan_evaluation(corpus, 1).back() == std::vector<int64_t>{1});
}

TEST_CASE("batches: content and padding, by hand") {
  const Folder folder;
  const auto corpus = make_corpus(folder / "c", {{{5, 6}, {7}}, {{8}, {9, 10, 11}}});
  const auto batch = make_batch(corpus, {1, 0});
  REQUIRE(batch.sentences == 2);
  REQUIRE(batch.source_length == 3);
  REQUIRE(batch.target_length == 4);
  REQUIRE(batch.source == std::vector<int32_t>{8, kEos, kPad, 5, 6, kEos});
  REQUIRE(batch.target_input == std::vector<int32_t>{kBos, 9, 10, 11, kBos, 7, kPad, kPad});
  REQUIRE(batch.target_output == std::vector<int32_t>{9, 10, 11, kEos, 7, kEos, kPad, kPad});
  REQUIRE(batch.source_tokens == 5);
  REQUIRE(batch.target_tokens == 6);
  REQUIRE(batch.rows == std::vector<int64_t>{1, 0});
}

TEST_CASE("batch stream: what is planned comes, epoch after epoch") {
  const Folder folder;
  const auto corpus = make_corpus(folder / "c", random_pairs(100, 10, 4));
  BatchStream stream(corpus, 40, 5, {});
  for (int64_t epoch = 0; epoch < 3; ++epoch) {
    const auto plan = plan_epoch(corpus, 40, 5, epoch);
    for (int64_t batch = 0; batch < std::ssize(plan); ++batch) {
      REQUIRE(stream.position() == Position{epoch, batch});
      REQUIRE(stream.batches() == std::ssize(plan));
      const auto got = stream.next();
      const auto want = make_batch(corpus, plan[static_cast<size_t>(batch)]);
      REQUIRE(got.rows == want.rows);
      REQUIRE(got.source == want.source);
      REQUIRE(got.target_output == want.target_output);
    }
  }
  REQUIRE(stream.position() == Position{3, 0});
}

TEST_CASE("batch stream: resumed anywhere it goes on as if it had never stopped") {
  const Folder folder;
  const auto corpus = make_corpus(folder / "c", random_pairs(60, 10, 5));
  std::vector<Position> positions;
  std::vector<std::vector<int64_t>> rows;
  BatchStream unbroken(corpus, 40, 6, {});
  while (positions.empty() || positions.back().epoch < 2) {
    positions.push_back(unbroken.position());
    rows.push_back(unbroken.next().rows);
  }
  for (size_t start = 0; start < positions.size(); ++start) {
    BatchStream resumed(corpus, 40, 6, positions[start]);
    for (size_t i = start; i < std::min(start + 3, rows.size()); ++i) {
      REQUIRE(resumed.position() == positions[i]);
      REQUIRE(resumed.next().rows == rows[i]);
    }
  }
  const auto batches = std::ssize(plan_epoch(corpus, 40, 6, 0));
  REQUIRE(BatchStream(corpus, 40, 6, {0, batches}).position() == Position{1, 0});
  REQUIRE_THROWS_WITH(BatchStream(corpus, 40, 6, {0, batches + 1}),
                      Contains("position in the data"));
  REQUIRE_THROWS_AS(BatchStream(corpus, 40, 6, {-1, 0}), UserError);
}

TEST_CASE("batch stream: a budget too small is said at once") {
  const Folder folder;
  const auto corpus = make_corpus(folder / "c", {{{5, 6}, {7}}});
  REQUIRE_THROWS_WITH(BatchStream(corpus, 2, 1, {}), Contains("data.tokens_per_batch"));
  const auto none = make_corpus(folder / "d", {});
  REQUIRE_THROWS_AS(BatchStream(none, 2, 1, {}), UserError);
}
