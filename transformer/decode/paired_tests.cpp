#include "transformer/decode/paired_tests.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "transformer/error.h"
#include "transformer/numpy_random.h"

namespace transformer {

namespace {

void check_paired(const SentenceStatistics& baseline, const SentenceStatistics& system) {
  if (!baseline.empty() && baseline.size() == system.size()) return;
  throw UserError("paired test: expected the same sentences, one at least; got " +
                  std::to_string(baseline.size()) + " and " + std::to_string(system.size()));
}

double score_of(const SentenceStatistics& sentences) {
  BleuStatistics sum;
  for (const auto& sentence : sentences) sum += sentence;
  return bleu_score(sum).score;
}

double real_difference(const SentenceStatistics& baseline, const SentenceStatistics& system) {
  return std::abs(score_of(baseline) - score_of(system));
}

// Greater, not equal: a system against itself is not told from itself.
double p_value(const std::vector<double>& differences, double real) {
  const auto greater = std::ranges::count_if(differences, [&](double each) { return each > real; });
  return static_cast<double>(greater + 1) / static_cast<double>(differences.size() + 1);
}

}  // namespace

double paired_bootstrap(const SentenceStatistics& baseline, const SentenceStatistics& system,
                        const PairedTestOptions& options) {
  check_paired(baseline, system);
  NumpyRandom random(options.seed);
  const auto count = static_cast<uint32_t>(baseline.size());
  std::vector<double> differences;
  for (int64_t sample = 0; sample < options.bootstrap_samples; ++sample) {
    BleuStatistics ours, theirs;
    for (uint32_t i = 0; i < count; ++i) {
      const uint32_t drawn = random.below(count);
      theirs += baseline[drawn];
      ours += system[drawn];
    }
    differences.push_back(std::abs(bleu_score(ours).score - bleu_score(theirs).score));
  }
  const double mean = std::accumulate(differences.begin(), differences.end(), 0.0) /
                      static_cast<double>(differences.size());
  for (double& each : differences) each -= mean;
  return p_value(differences, real_difference(baseline, system));
}

double approximate_randomisation(const SentenceStatistics& baseline,
                                 const SentenceStatistics& system,
                                 const PairedTestOptions& options) {
  check_paired(baseline, system);
  NumpyRandom random(options.seed);
  std::vector<double> differences;
  for (int64_t trial = 0; trial < options.randomisation_trials; ++trial) {
    BleuStatistics one, other;
    for (size_t i = 0; i < baseline.size(); ++i) {
      const bool stays = random.coin();
      one += stays ? baseline[i] : system[i];
      other += stays ? system[i] : baseline[i];
    }
    differences.push_back(std::abs(bleu_score(one).score - bleu_score(other).score));
  }
  return p_value(differences, real_difference(baseline, system));
}

}  // namespace transformer
