#pragma once

// What is said below a table.

#include <string>
#include <vector>

#include "experiments/table.h"

namespace transformer {

// Of rows that are not begun only a count is shown, where others are.
bool is_begun(const RowSummary& row);

// Null where the sweep has none of that id.
const RowSummary* row_of(const Summary& summary, const std::string& id);

std::vector<std::string> table_notes(const Summary& summary, const TableOptions& options);

}  // namespace transformer
