#pragma once

// Charts of a sweep as Vega-Lite specifications with their data inside: a page or a notebook draws
// them as they are.

#include <filesystem>
#include <string>
#include <vector>

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

}  // namespace transformer
