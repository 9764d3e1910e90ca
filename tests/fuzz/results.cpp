#include <algorithm>

#include "experiments/departures.h"
#include "experiments/record.h"
#include "experiments/table.h"
#include "tests/fuzz/targets.h"

namespace transformer::fuzz {
namespace fs = std::filesystem;

void results(const std::string& bytes) {
  const Results read = read_results(file_with("results.json", bytes));
  for (const auto& row : read.rows) {
    const fs::path place = (fs::path("/sweep") / row.id).lexically_normal();
    promise(place.parent_path() == "/sweep" && place.filename() == row.id, "a row stays within");
    departures_from_paper(row);
  }
  const Summary summary = summarize(read);
  for (size_t format = 0; format < names(TableFormat{}).size(); ++format) {
    format_table(summary, static_cast<TableFormat>(format));
  }
  const std::string shown = format_table(summary, TableFormat::text);
  promise(std::ranges::none_of(shown, [](char c) { return c == 0x1b || c == 0x7f || c == '\0'; }),
          "a table has nothing that a terminal obeys");
}

}  // namespace transformer::fuzz
