#pragma once

#include <cstdint>
#include <vector>

#include "transformer/decode/bleu.h"

namespace transformer {

// Whether one system's BLEU on a test set differs from another's by more than the choice of its
// sentences explains. As sacreBLEU's --paired-bs and --paired-ar, which with the same seed draw the
// same samples. What both do not tell: how the systems would differ had they been trained with
// other seeds.
struct PairedTestOptions {
  int64_t bootstrap_samples = 1000;
  int64_t randomisation_trials = 10000;
  uint64_t seed = 12345;
};

// Statistics are of the same sentences in the same order: one or more. Throws UserError otherwise.
using SentenceStatistics = std::vector<BleuStatistics>;

// Paired bootstrap resampling (Koehn 2004), two-sided: the share of samples of the sentences, drawn
// with replacement, in which the difference of the scores is farther from its mean over the samples
// than the real one is from 0; (c + 1) / (n + 1).
double paired_bootstrap(const SentenceStatistics& baseline, const SentenceStatistics& system,
                        const PairedTestOptions& options = {});

// Approximate randomisation (Riezler and Maxwell 2005), two-sided: the share of trials, in each of
// which the two exchange every other translation by chance, whose difference is greater than the
// real one; (c + 1) / (n + 1).
double approximate_randomisation(const SentenceStatistics& baseline,
                                 const SentenceStatistics& system,
                                 const PairedTestOptions& options = {});

}  // namespace transformer
