#include "transformer/analysis/vocabulary_interval.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "transformer/analysis/parameters.h"

namespace transformer {

namespace {

double count_with(ModelConfig& model, int64_t V) {
  model.V = V;
  model.source_V = V;
  return static_cast<double>(count_parameters(model).total());
}

}  // namespace

VocabularyInterval vocabularies_printing(ModelConfig model, double printed) {
  constexpr double kHalf = 5e5;
  const double without = count_with(model, 0);
  const double each = count_with(model, 1) - without;
  // Half a million more rounds up: that end is open.
  const double end = std::ceil((printed + kHalf - without) / each);
  return {std::max<int64_t>(1, static_cast<int64_t>(std::ceil((printed - kHalf - without) / each))),
          static_cast<int64_t>(end) - 1};
}

VocabularyInterval most_common(const std::vector<VocabularyInterval>& intervals) {
  VocabularyInterval best;
  int64_t most = 0;
  for (const auto& start : intervals) {
    if (start.is_empty()) continue;
    const int64_t V = start.least;
    VocabularyInterval meet{V, std::numeric_limits<int64_t>::max()};
    int64_t count = 0;
    for (const auto& other : intervals) {
      if (!other.contains(V)) continue;
      ++count;
      meet.most = std::min(meet.most, other.most);
    }
    if (count <= most) continue;
    most = count;
    best = meet;
  }
  return best;
}

}  // namespace transformer
