#include "transformer/data/task.h"

#include <cmath>

#include "tests/catch.h"
#include "tests/data/text.h"

using namespace transformer;
using namespace transformer::testing;

namespace {

constexpr int64_t kTaskV = 1000;

ModelConfig task_model(Family family) {
  Config config;
  config.model.family = family;
  config.model.V = kTaskV;
  return resolve(config).model;
}

// Sentences of these lengths, every piece another.
Corpus counted_corpus(const Folder& folder, const std::vector<int32_t>& lengths) {
  Pairs pairs;
  for (const int32_t length : lengths) {
    std::vector<int32_t> target;
    for (int32_t i = 0; i < length; ++i) target.push_back(10 + i);
    pairs.push_back({{5, 6, 7}, target});
  }
  return make_corpus(folder / "counted", pairs, kTaskV);
}

// What became of the chosen word-pieces of a batch.
struct MaskCounts {
  int64_t chosen = 0, masked = 0, kept = 0, drawn = 0;
};
MaskCounts counts_of(const Batch& before, const Batch& after) {
  MaskCounts counts;
  for (size_t i = 0; i < after.target_input.size(); ++i) {
    const int32_t piece = before.target_output[i];
    const int32_t shown = after.target_input[i];
    if (after.target_output[i] == kPad) {
      REQUIRE(shown == piece);  // not chosen: as it was
      continue;
    }
    REQUIRE(after.target_output[i] == piece);
    REQUIRE(piece != kEos);
    ++counts.chosen;
    if (shown == kMaskPiece) {
      ++counts.masked;
    } else if (shown == piece) {
      ++counts.kept;
    } else {
      REQUIRE(shown > kEos);
      REQUIRE(shown < kTaskV);
      ++counts.drawn;
    }
  }
  return counts;
}

// Within four standard deviations of a binomial count.
void require_share(int64_t count, int64_t of, double share) {
  const auto n = static_cast<double>(of);
  INFO(count << " of " << of);
  REQUIRE(std::abs(static_cast<double>(count) - n * share) <
          4 * std::sqrt(n * share * (1 - share)));
}

}  // namespace

TEST_CASE("task: of a decoder alone the batch without its source") {
  const Folder folder;
  const auto corpus = counted_corpus(folder, {4, 2});
  const Batch whole = make_batch(corpus, {0, 1});
  const Batch batch = for_task(task_model(Family::decoder_only), whole);
  REQUIRE(batch.source.empty());
  REQUIRE(batch.source_tokens == 0);
  REQUIRE(batch.target_input == std::vector<int32_t>{kBos, 10, 11, 12, 13, kBos, 10, 11, 0, 0});
  REQUIRE(batch.target_output == std::vector<int32_t>{10, 11, 12, 13, kEos, 10, 11, kEos, 0, 0});
  REQUIRE(predicted_tokens(Family::decoder_only, batch) == 8);
  REQUIRE(for_task(task_model(Family::encoder_decoder), whole).source == whole.source);
}

TEST_CASE("task: masks choose 15 % of each sentence, and are 80 % mask, 10 % drawn, 10 % kept") {
  const Folder folder;
  const auto corpus = counted_corpus(folder, {1, 3, 9, 10, 17, 200});
  const auto model = task_model(Family::encoder_only);
  MaskCounts all;
  std::vector<int64_t> places(200);  // of the longest, how often each was chosen
  constexpr int64_t kSteps = 400;
  for (int64_t step = 1; step <= kSteps; ++step) {
    const std::vector<int64_t> wanted = {1, 1, 1, 2, 3, 30};
    for (int64_t row = 0; row < 6; ++row) {
      const Batch before = make_batch(corpus, {row});
      const Batch after = for_task(model, before, MaskStream::of_step(3, step));
      const auto counts = counts_of(before, after);
      REQUIRE(counts.chosen == wanted[static_cast<size_t>(row)]);
      REQUIRE(predicted_tokens(Family::encoder_only, before) == counts.chosen);
      REQUIRE(predicted_tokens(Family::encoder_only, outline_of(corpus, {row})) == counts.chosen);
      all.masked += counts.masked;
      all.kept += counts.kept;
      all.drawn += counts.drawn;
      all.chosen += counts.chosen;
      if (row < 5) continue;
      for (size_t i = 0; i < 200; ++i) places[i] += after.target_output[i] != kPad ? 1 : 0;
    }
  }
  require_share(all.masked, all.chosen, 0.8);
  // One in 996 of those drawn is the piece itself.
  require_share(all.kept, all.chosen, 0.1 + 0.1 / 996);
  require_share(all.drawn, all.chosen, 0.1 - 0.1 / 996);
  // No place is favoured: chi-squared over 200 places, each chosen 0.15 of the time; 199 ± 4 · 20.
  double chi_squared = 0;
  for (const int64_t count : places) {
    const double off = static_cast<double>(count) - 0.15 * kSteps;
    chi_squared += off * off / (0.15 * 0.85 * kSteps);
  }
  REQUIRE(chi_squared == Approx(200).margin(80));
}

TEST_CASE("task: a sentence's masks are the same in any batch, and others at another step") {
  const Folder folder;
  const auto corpus = counted_corpus(folder, {60, 50, 70});
  const auto model = task_model(Family::encoder_only);
  const auto masked = [&](const std::vector<int64_t>& rows, const MaskStream& masks) {
    return for_task(model, make_batch(corpus, rows), masks);
  };
  const Batch alone = masked({1}, MaskStream::of_step(3, 7));
  const Batch among = masked({2, 0, 1}, MaskStream::of_step(3, 7));
  REQUIRE(std::equal(alone.target_input.begin(), alone.target_input.end(),
                     among.target_input.begin() + 2 * among.target_length));
  REQUIRE(masked({1}, MaskStream::of_step(3, 8)).target_input != alone.target_input);
  REQUIRE(masked({1}, MaskStream::of_step(4, 7)).target_input != alone.target_input);
  // Without a step: of an evaluation, fixed, and no step's.
  REQUIRE(masked({1}, {}).target_input == masked({1}, {}).target_input);
  REQUIRE(masked({1}, {}).target_input != alone.target_input);
  // Equal sentences at two places have masks of their own.
  const auto twice = counted_corpus(folder, {60, 60});
  const Batch both = for_task(model, make_batch(twice, {0, 1}));
  REQUIRE_FALSE(std::equal(both.target_input.begin(), both.target_input.begin() + 61,
                           both.target_input.begin() + 61));
}

TEST_CASE("task: an empty line has nothing to mask") {
  const Folder folder;
  const auto corpus = counted_corpus(folder, {0, 5});
  const Batch batch = for_task(task_model(Family::encoder_only), make_batch(corpus, {0, 1}));
  REQUIRE(batch.target_input[0] == kEos);
  REQUIRE(predicted_tokens(Family::encoder_only, batch) == 1);
}
