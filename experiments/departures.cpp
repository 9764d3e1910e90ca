#include "experiments/departures.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "experiments/table3_rows.h"
#include "transformer/error.h"

namespace transformer {

namespace {

// The constants of one config by dotted key, d_k and the like resolved.
Json constants_of(Config config, const std::string& where) {
  config = resolve(std::move(config), where);
  const Json json = to_json(config);
  Json constants = Json::object();
  for (const auto& key : constants_of_the_paper()) {
    const size_t dot = key.find('.');
    constants[key] = json.at(key.substr(0, dot)).at(key.substr(dot + 1));
  }
  constants["data.tokens_per_batch"] = config.data.tokens_per_batch * config.training.accumulate;
  return constants;
}

// Empty where the config is not there, or is of another version of this program.
std::optional<Json> constants_of(const RowRecord& row) {
  try {
    if (row.config.is_object() && !row.config.empty()) {
      return constants_of(from_json<Config>(row.config), "");
    }
  } catch (const UserError&) {
  }
  return std::nullopt;
}

// What a row has by rights whose base has `base` where the paper's base and row have these.
Json scaled(const Json& base, const Json& papers_base, const Json& papers) {
  if (papers == papers_base) return base;
  if (base == papers_base || !base.is_number() || papers_base == 0) return papers;
  const double value = base.get<double>() * papers.get<double>() / papers_base.get<double>();
  return base.is_number_integer() ? Json(std::llround(value)) : Json(value);
}

}  // namespace

std::vector<Departure> departures_from_paper(const RowRecord& row) {
  const auto paper = paper_row(row.id, row.group);
  const auto ours = constants_of(row);
  std::vector<Departure> departures;
  if (!paper || !ours) return departures;
  const Json papers = constants_of(*paper, "");
  for (const auto& [key, value] : papers.items()) {
    if (ours->at(key) != value) departures.push_back({key, ours->at(key), value});
  }
  return departures;
}

std::vector<Departure> departures_beside_scale(const RowRecord& row, const RowRecord& base) {
  const auto paper = paper_row(row.id, row.group);
  const auto papers_base = paper_row("base", "base");
  const auto ours = constants_of(row);
  const auto our_base = constants_of(base);
  std::vector<Departure> departures;
  if (!paper || !ours || !our_base) return departures;
  const Json papers = constants_of(*paper, "");
  const Json base_of_the_paper = constants_of(*papers_base, "");
  for (const auto& [key, value] : base_of_the_paper.items()) {
    const Json expected = scaled(our_base->at(key), value, papers.at(key));
    if (ours->at(key) != expected) departures.push_back({key, ours->at(key), expected});
  }
  return departures;
}

Json to_json(const std::vector<Departure>& departures) {
  Json json = Json::array();
  for (const auto& each : departures) {
    json.push_back({{"key", each.key}, {"ours", each.ours}, {"paper", each.papers}});
  }
  return json;
}

std::vector<std::string> departure_notes(const std::vector<RowRecord>& rows) {
  const auto base = std::find_if(rows.begin(), rows.end(),
                                 [](const RowRecord& row) { return row.group == "base"; });
  std::vector<std::string> notes;
  for (auto row = rows.begin(); row != rows.end(); ++row) {
    const bool is_other = base != rows.end() && row != base;
    const auto departures =
        is_other ? departures_beside_scale(*row, *base) : departures_from_paper(*row);
    if (departures.empty()) continue;
    std::string text = "Not the paper's row " + row->id + ": ";
    for (const auto& each : departures) {
      text += (&each == departures.data() ? "" : ", ") + each.key.substr(each.key.find('.') + 1) +
              " " + fields::shown(each.ours) + " (" + (is_other ? "by the paper: " : "paper: ") +
              fields::shown(each.papers) + ")";
    }
    notes.push_back(text + ".");
  }
  return notes;
}

}  // namespace transformer
