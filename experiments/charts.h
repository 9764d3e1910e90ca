#pragma once

// Charts of a sweep as Vega-Lite specifications with their data inside: a page or a notebook draws
// them as they are.

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "experiments/curves.h"
#include "experiments/summary.h"

namespace transformer {

struct Chart {
  std::string id;  // for file names and anchors
  std::string title;
  std::string text;  // what it shows, a sentence or two
  Json spec;         // with data.values: an object a record, all with the same keys
};

// Those for which there is anything to show: learning curves (of runs still going on too),
// perplexity against BLEU, size and cost against quality, our ranks against the paper's, and speed.
// `folder` is the sweep's.
std::vector<Chart> charts_of(const Summary& summary, const std::filesystem::path& folder);

// The same with a run's curve, by its key in metrics.jsonl, from elsewhere than its file.
using CurveOf = std::function<Curve(const std::string& row, int64_t seed, const std::string& key)>;
std::vector<Chart> charts_of(const Summary& summary, const std::filesystem::path& folder,
                             const CurveOf& curve_of);

}  // namespace transformer
