#pragma once

#include <string>
#include <vector>

#include "experiments/record.h"

namespace transformer {

// Where an experiment that calls itself a row of the paper's Table 3 is not that row.
struct Departure {
  std::string key;
  Json ours;
  Json papers;
};

// From the constants that the paper has for the row; batches of several accumulated ones count as
// one. None for a row that is not one of Table 3, or whose config is not known.
std::vector<Departure> departures_from_paper(const RowRecord& row);

// Those that do not come from a base of another scale: where the paper's row is as its base, ours
// is to be as ours; where it differs by a factor, ours by the same; else it is to have the paper's
// value. So a model of half the width may be a row of Table 3 in miniature, but not one that
// changes what the row does not.
std::vector<Departure> departures_beside_scale(const RowRecord& row, const RowRecord& base);

Json to_json(const std::vector<Departure>& departures);

// Of all rows of Table 3 among these, a line each that has any: base's, and of the others what is
// beside scale. Without a row "base", all of each.
std::vector<std::string> departure_notes(const std::vector<RowRecord>& rows);

}  // namespace transformer
