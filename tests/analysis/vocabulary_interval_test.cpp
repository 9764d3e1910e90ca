#include "transformer/analysis/vocabulary_interval.h"

#include <cmath>

#include "experiments/sweep.h"
#include "tests/catch.h"
#include "transformer/analysis/parameters.h"

using namespace transformer;

namespace {

std::vector<SweepRow> rows_with_figure() {
  auto rows = load_sweep(std::string(TRANSFORMER_SOURCE) + "/configs/table3.json").rows;
  std::erase_if(rows, [](const SweepRow& row) { return !row.paper.parameters; });
  return rows;
}

}  // namespace

TEST_CASE("vocabularies: Table 3's parameter column, counted apart") {
  const std::vector<std::pair<std::string, VocabularyInterval>> want = {
      {"base", {39841, 41793}},     {"B-k16", {39993, 41945}},   {"B-k32", {39291, 41244}},
      {"C-N2", {40624, 42577}},     {"C-N4", {39256, 41208}},    {"C-N8", {40426, 42378}},
      {"C-d256", {39670, 43576}},   {"C-d1024", {40599, 41574}}, {"C-ff1024", {41004, 42956}},
      {"C-ff4096", {39469, 41421}}, {"big", {35368, 36344}}};
  const auto rows = rows_with_figure();
  REQUIRE(rows.size() == want.size());
  std::vector<VocabularyInterval> all;
  for (size_t i = 0; i < rows.size(); ++i) {
    INFO(rows[i].id);
    REQUIRE(rows[i].id == want[i].first);
    all.push_back(vocabularies_printing(rows[i].config.model, *rows[i].paper.parameters));
    REQUIRE(all.back() == want[i].second);
  }
  // No one vocabulary fits base's family and big.
  REQUIRE(most_common(all) == VocabularyInterval{41004, 41208});
  REQUIRE_FALSE(all.back().contains(41004));
}

TEST_CASE("vocabularies: both ends print the figure, one step further does not") {
  auto model = rows_with_figure()[0].config.model;
  model.tie_embeddings = false;
  model.positions = PositionKind::learned;
  const auto interval = vocabularies_printing(model, 90e6);
  const auto millions = [&](int64_t V) {
    model.V = model.source_V = V;
    return std::round(static_cast<double>(count_parameters(model).total()) / 1e6);
  };
  REQUIRE(millions(interval.least) == 90);
  REQUIRE(millions(interval.most) == 90);
  REQUIRE(millions(interval.least - 1) == 89);
  REQUIRE(millions(interval.most + 1) == 91);
  REQUIRE(vocabularies_printing(model, 3e6).is_empty());
}

TEST_CASE("vocabularies: what most intervals share") {
  REQUIRE(most_common({{1, 5}, {4, 9}, {20, 30}, {5, 6}}) == VocabularyInterval{5, 5});
  REQUIRE(most_common({{7, 3}, {20, 30}}) == VocabularyInterval{20, 30});
  REQUIRE(most_common({}).is_empty());
}
