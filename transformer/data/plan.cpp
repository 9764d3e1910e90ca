#include <algorithm>
#include <numeric>
#include <string>

#include "transformer/data/batches.h"
#include "transformer/error.h"
#include "transformer/random.h"

namespace transformer {

namespace {

using Plan = std::vector<std::vector<int64_t>>;

struct Lengths {
  int64_t source = 0;
  int64_t target = 0;
  int64_t longer() const { return std::max(source, target); }
  // Pairs are alike where the longer sides are equal and the shorter ones within an eighth of it.
  int64_t kind() const {
    constexpr int64_t kBands = 8;
    return longer() * (2 * kBands + 1) + kBands + (source - target) * kBands / longer();
  }
};

Lengths lengths_of(const Corpus& corpus, int64_t row) {
  return {std::ssize(corpus.source(row)), std::ssize(corpus.target(row))};
}

// Stable, by counting: rows of one kind stay in the order they came in.
std::vector<uint32_t> sort_by_kind(const std::vector<uint32_t>& rows,
                                   const std::vector<uint32_t>& kinds) {
  const uint32_t most = rows.empty() ? 0 : *std::max_element(kinds.begin(), kinds.end());
  std::vector<uint32_t> start(size_t{most} + 2);
  for (const uint32_t kind : kinds) ++start[kind + 1];
  std::partial_sum(start.begin(), start.end(), start.begin());
  std::vector<uint32_t> sorted(rows.size());
  for (const uint32_t row : rows) sorted[start[kinds[row]]++] = row;
  return sorted;
}

// Cuts the rows, in order, into batches within the budget; the first has a smaller one.
Plan cut(const Corpus& corpus, const std::vector<uint32_t>& rows, int64_t tokens_per_batch,
         int64_t first_budget) {
  Plan plan;
  int64_t budget = first_budget;
  int64_t longest = 0;
  for (const uint32_t row : rows) {
    longest = std::max(longest, lengths_of(corpus, row).longer());
    const bool full = !plan.empty() && (std::ssize(plan.back()) + 1) * longest > budget;
    if (plan.empty() || full) {
      if (full) budget = tokens_per_batch;
      longest = lengths_of(corpus, row).longer();
      plan.emplace_back();
    }
    plan.back().push_back(row);
  }
  return plan;
}

std::vector<uint32_t> all_rows(const Corpus& corpus) {
  std::vector<uint32_t> rows(static_cast<size_t>(corpus.size()));
  std::iota(rows.begin(), rows.end(), 0);
  return rows;
}

}  // namespace

std::vector<std::vector<int64_t>> plan_epoch(const Corpus& corpus, int64_t tokens_per_batch,
                                             int64_t seed, int64_t epoch) {
  auto rows = all_rows(corpus);
  std::vector<uint32_t> kinds(rows.size());
  for (const uint32_t row : rows) {
    const auto lengths = lengths_of(corpus, row);
    if (lengths.longer() > tokens_per_batch) {
      throw UserError("data.tokens_per_batch: expected room for every pair; pair " +
                      std::to_string(row) + " has " + std::to_string(lengths.longer()) +
                      " tokens on a side, the budget is " + std::to_string(tokens_per_batch));
    }
    kinds[row] = static_cast<uint32_t>(lengths.kind());
  }
  Random random(stream_seed(seed, "order", epoch));
  shuffle(rows, random);
  rows = sort_by_kind(rows, kinds);
  // The first batch is smaller by chance, so that the borders between batches move from epoch to
  // epoch.
  const auto first = static_cast<int64_t>(random.below(static_cast<uint64_t>(tokens_per_batch)));
  auto plan = cut(corpus, rows, tokens_per_batch, first + 1);
  shuffle(plan, random);
  return plan;
}

std::vector<std::vector<int64_t>> plan_evaluation(const Corpus& corpus, int64_t tokens_per_batch) {
  auto rows = all_rows(corpus);
  std::stable_sort(rows.begin(), rows.end(), [&](uint32_t a, uint32_t b) {
    return lengths_of(corpus, a).kind() < lengths_of(corpus, b).kind();
  });
  return cut(corpus, rows, tokens_per_batch, tokens_per_batch);
}

}  // namespace transformer
