#include "experiments/row_id.h"

#include <algorithm>

#include "transformer/error.h"
#include "transformer/fields.h"

namespace transformer {

namespace {

bool is_letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

}  // namespace

bool fits_an_id(char c) { return is_letter_or_digit(c) || c == '.' || c == '_' || c == '-'; }

void check_row_id(const std::string& id, const std::string& where) {
  constexpr size_t kLongest = 200;
  if (id.empty() || id.size() > kLongest || !std::all_of(id.begin(), id.end(), fits_an_id) ||
      !is_letter_or_digit(id[0])) {
    throw UserError(
        where + ": id: " + fields::shown(id) +
        " cannot name a folder; expected letters, digits, '.', '_' and '-', a letter or "
        "digit first, at most 200");
  }
  if (id == "lock" || id == "slurm" || id.ends_with(".json")) {
    throw UserError(where + ": id: " + fields::shown(id) +
                    " is the name of a file in the sweep's folder; choose another");
  }
}

std::string row_id_of(const std::string& name) {
  std::string id = name;
  std::replace_if(
      id.begin(), id.end(), [](char c) { return !fits_an_id(c); }, '_');
  return (!id.empty() && is_letter_or_digit(id[0]) ? id : "experiment" + id).substr(0, 100);
}

}  // namespace transformer
