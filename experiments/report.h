#pragma once

// A sweep as one page that needs no network: the results table, charts with their figures, the runs
// and their configs.

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/charts.h"
#include "experiments/table.h"
#include "experiments/translation_samples.h"

namespace transformer {

// `scripts` draw the charts; without them the page has each chart's figures and says what is
// missing. Texts from the sweep's files are shown as they are, whatever is in them.
struct Report {
  std::string title;
  Summary summary;
  TableOptions table{};
  std::vector<Chart> charts{};
  std::vector<TranslationSample> samples{};
};
std::string report_page(const Report& report, std::string_view scripts);

// Whether this is a file, and a report of that title.
bool is_report_of(const std::filesystem::path& page, const std::string& title);

}  // namespace transformer
