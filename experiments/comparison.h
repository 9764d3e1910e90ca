#pragma once

// The rows of a sweep side by side for the values of one key, or of several together: matched on
// all other keys and on the seed.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "experiments/learning_curve.h"
#include "experiments/summary.h"
#include "transformer/decode/paired_tests.h"

namespace transformer {

struct ComparisonOptions {
  std::vector<std::string> keys;  // compared by: dotted, or the last part where one key has it
  std::vector<std::string> baseline{};  // a value of each; the first row's unless stated
  std::optional<double> reach{};        // a perplexity: steps to it are counted
  std::optional<double>
      diverged_above{};  // a perplexity: a run that ends above it counts as diverged
  PairedTestOptions tests{};
};

// What is compared of a run beside its result.
struct RunDetails {
  LearningCurve curve;
  SentenceStatistics sentences;  // of data.valid; empty where the run has kept no translations
};
using DetailsOf = std::function<RunDetails(const RunRecord&)>;

// From the runs' own folders in a sweep's. Translations that do not give the result's BLEU, as they
// would when changed since, count as not kept.
DetailsOf details_in(const std::filesystem::path& sweep);

struct ComparedRun {
  const RunRecord* run = nullptr;
  bool diverged = false;
  bool counted = false;              // complete and not diverged: in means and differences
  std::optional<int64_t> reached{};  // the step at which it had the perplexity that was asked for
  RunDetails details;
};

// Of two runs with one seed. No p-values where a run has no translations kept, or both have the
// same.
struct BleuComparison {
  int64_t seed = 0;
  double difference = 0;
  std::optional<double> bootstrap{}, randomisation{};
};

struct ComparedRow {
  const RowSummary* row = nullptr;
  std::vector<ComparedRun> runs{};
  int64_t done = 0;  // complete or diverged
  int64_t diverged = 0;
  int64_t reaching = 0;                           // runs that reached the perplexity asked for
  std::optional<Figure> perplexity{}, bleu{};     // over the runs that are counted and have one
  std::optional<Figure> steps_to{};               // over those that reached it
  std::optional<Figure> perplexity_difference{};  // to the baseline, over pairs of one seed
  std::optional<Figure> bleu_difference{};
  std::vector<BleuComparison> tests{};
};

// Rows that differ in the compared keys alone.
struct ComparedSetting {
  std::vector<ComparedRow> rows;  // in the sweep's order
  std::optional<size_t> baseline{};
};

// A value of the compared keys over all settings.
struct ComparedValue {
  const RowSummary* row = nullptr;  // one that has it
  int64_t done = 0;
  int64_t diverged = 0;
  std::optional<Figure> perplexity_difference{}, bleu_difference{};  // over all pairs
};

// Points into the summary that it was made of.
struct Comparison {
  std::vector<std::string> keys;          // compared by, dotted
  std::vector<std::string> setting_keys;  // that vary besides
  std::vector<std::string> baseline;      // shown values of keys
  std::vector<ComparedSetting> settings;
  std::vector<ComparedValue> overall;
  std::vector<std::string> unmatched;  // rows that no other differs from in the keys alone
};

// Throws UserError on a key that is not known or does not vary, a baseline that no row has, and
// where no two rows can be matched, naming what differs besides.
Comparison compare(const Summary& summary, const DetailsOf& details,
                   const ComparisonOptions& options);

}  // namespace transformer
