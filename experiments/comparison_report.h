#pragma once

#include <array>
#include <string>

#include "experiments/comparison.h"
#include "experiments/table.h"

namespace transformer {

enum class ComparisonFormat { text, markdown, json };
constexpr auto names(ComparisonFormat) { return std::array{"text", "markdown", "json"}; }

// Rows side by side: figures, differences to the baseline, tests, shares of runs that diverged.
Table comparison_table(const Summary& summary, const Comparison& comparison,
                       const ComparisonOptions& options);

// How they learned: the mean perplexity of data.valid over a row's runs at some of the steps at
// which they were validated; of the training batches where they were not. Without rows where
// nothing is known.
Table curves_table(const Comparison& comparison);

// All of it, every run with its whole curves.
Json to_json(const Comparison& comparison, const ComparisonOptions& options);

std::string format_comparison(const Summary& summary, const Comparison& comparison,
                              const ComparisonOptions& options, ComparisonFormat format);

}  // namespace transformer
