#include "transformer/data/share.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <tuple>

namespace transformer {

namespace {

int64_t tokens_of(const Corpus& corpus, int64_t row) {
  return std::ssize(corpus.source(row)) + std::ssize(corpus.target(row));
}

std::vector<int64_t> rows_by_length(const Corpus& corpus, std::span<const Batch> batches) {
  std::vector<int64_t> rows;
  for (const auto& batch : batches) rows.insert(rows.end(), batch.rows.begin(), batch.rows.end());
  std::ranges::sort(rows, {}, [&](int64_t row) {
    const int64_t source = std::ssize(corpus.source(row));
    const int64_t target = std::ssize(corpus.target(row));
    return std::tuple(std::max(source, target), std::min(source, target), row);
  });
  return rows;
}

// All word-pieces in a row, cut into equal spans: a sentence falls to the rank in whose span its
// middle lies.
std::vector<int64_t> rows_of_rank(const Corpus& corpus, const std::vector<int64_t>& rows,
                                  int64_t rank, int64_t ranks) {
  const int64_t all = std::transform_reduce(rows.begin(), rows.end(), int64_t{0}, std::plus<>(),
                                            [&](int64_t row) { return tokens_of(corpus, row); });
  std::vector<int64_t> own;
  int64_t before = 0;
  for (const int64_t row : rows) {
    const int64_t tokens = tokens_of(corpus, row);
    const int64_t doubled_middle = 2 * before + tokens;
    if (doubled_middle * ranks / (2 * all) == rank) own.push_back(row);
    before += tokens;
  }
  return own;
}

}  // namespace

std::vector<Batch> share_of(const Corpus& corpus, const std::vector<Batch>& batches, int64_t rank,
                            int64_t ranks) {
  if (ranks == 1) return batches;
  std::vector<Batch> share;
  const auto most = static_cast<size_t>(ranks);
  for (size_t first = 0; first < batches.size(); first += most) {
    const size_t count = std::min(most, batches.size() - first);
    const auto rows = rows_by_length(corpus, std::span(batches).subspan(first, count));
    share.push_back(outline_of(corpus, rows_of_rank(corpus, rows, rank, ranks)));
  }
  return share;
}

}  // namespace transformer
