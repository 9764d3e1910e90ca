#pragma once

// A sweep as one page that needs no network: the results table, charts with their figures, the runs
// and their configs.

#include <string>
#include <string_view>
#include <vector>

#include "experiments/charts.h"

namespace transformer {

// `scripts` draw the charts; without them the page has each chart's figures and says what is
// missing. Texts from the sweep's files are shown as they are, whatever is in them.
std::string report_page(const std::string& title, const Summary& summary,
                        const std::vector<Chart>& charts, std::string_view scripts);

}  // namespace transformer
