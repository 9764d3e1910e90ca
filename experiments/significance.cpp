#include "experiments/significance.h"

#include <algorithm>

#include "experiments/layout.h"

namespace transformer {

PValues p_values_to_base(const Summary& summary, const DetailsOf& details) {
  PValues p_values;
  const RowSummary* base = base_row(summary);
  if (base == nullptr) return p_values;
  const PairedTestOptions tests{.randomisation_trials = 1000};  // enough to tell 0.01 from 0.05
  std::map<int64_t, SentenceStatistics> of_base;                // by seed
  std::map<int64_t, std::optional<double>> bleu_of_base;
  for (const auto& run : base->runs) {
    if (!run.result) continue;
    of_base[run.seed] = details(run).sentences;
    bleu_of_base[run.seed] = run.result->bleu;
  }
  for (const auto& row : summary.rows) {
    if (&row == base) continue;
    for (const auto& run : row.runs) {
      const auto pair = of_base.find(run.seed);
      if (!run.result || pair == of_base.end() || pair->second.empty()) continue;
      const auto sentences = details(run).sentences;
      if (sentences.size() != pair->second.size()) continue;
      const bool are_same =
          sentences == pair->second || run.result->bleu == bleu_of_base.at(run.seed);
      const double p = are_same ? 1 : approximate_randomisation(pair->second, sentences, tests);
      double& largest = p_values.emplace(row.row.id, p).first->second;
      largest = std::max(largest, p);
    }
  }
  return p_values;
}

}  // namespace transformer
