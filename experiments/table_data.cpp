#include <algorithm>
#include <array>

#include "experiments/departures.h"
#include "experiments/layout.h"
#include "experiments/table.h"

namespace transformer {

namespace {

Json figure_json(const std::optional<Figure>& figure) {
  if (!figure) return {};
  return {{"mean", figure->mean},
          {"sample_standard_deviation", fields::write(figure->standard_deviation)},
          {"n", figure->n}};
}

Json correlation_json(const std::optional<RankCorrelation>& correlation) {
  if (!correlation) return {};
  return {{"spearman", correlation->spearman}, {"rows", correlation->rows}};
}

Json settings(const RowSummary& row, const std::vector<std::string>& keys) {
  Json settings = Json::object();
  for (const auto& key : keys) settings[key] = row.values.contains(key) ? row.values[key] : Json();
  return settings;
}

Json p_value(const PValues& p_values, const std::string& id) {
  const auto found = p_values.find(id);
  return found == p_values.end() ? Json() : Json(found->second);
}

// RFC 4180: quoted where a comma, a quotation mark or a line end would be misread.
std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? "\"\"" : std::string(1, c);
  return out + "\"";
}

std::string field(const Json& json) {
  if (json.is_null()) return "";
  return quoted(json.is_string() ? json.get<std::string>() : text_of(json));
}

std::string csv_line(const std::vector<std::string>& fields) {
  std::string line;
  for (size_t i = 0; i < fields.size(); ++i) line += (i == 0 ? "" : ",") + fields[i];
  return line + "\n";
}

Json sweep_json(const Summary& summary, const PValues& p_values,
                const std::vector<std::string>& keys) {
  Json rows = Json::array();
  for (const auto& row : summary.rows) {
    Json incomplete = Json::array();
    for (const auto& run : row.runs) {
      if (run.state != RunState::complete) {
        incomplete.push_back({{"seed", run.seed}, {"state", name_of(run.state)}});
        if (run.diverged_at) incomplete.back()["step"] = *run.diverged_at;
        if (!run.message.empty()) incomplete.back()["message"] = run.message;
      }
    }
    rows.push_back({{"id", row.row.id},
                    {"group", row.row.group},
                    {"settings", settings(row, keys)},
                    {"state", name_of(state_of(row))},
                    {"runs", row.runs.size()},
                    {"complete", row.complete},
                    {"diverged", row.diverged},
                    {"incomplete", incomplete},
                    {"perplexity", figure_json(row.perplexity)},
                    {"bleu", figure_json(row.bleu)},
                    {"parameters", figure_json(row.parameters)},
                    {"seconds", figure_json(row.seconds)},
                    {"tokens_per_second", figure_json(row.tokens_per_second)},
                    {"flops", figure_json(row.flops)},
                    {"peak_memory_bytes", figure_json(row.peak_memory_bytes)},
                    {"bleu_p_value_to_base", p_value(p_values, row.row.id)},
                    {"paper", to_json(row.row.paper)},
                    {"departures", to_json(departures_from_paper(row.row))}});
  }
  return {{"schema_version", kSchemaVersion},
          {"runs", summary.runs},
          {"complete", summary.complete},
          {"diverged", summary.diverged},
          {"rank_correlation_with_paper",
           {{"perplexity", correlation_json(summary.perplexity)},
            {"bleu", correlation_json(summary.bleu)}}},
          {"bleu_signatures", summary.bleu_signatures},
          {"machines", summary.machines},
          {"versions", summary.versions},
          {"rows", rows}};
}

// The settings of both sweeps where there are two.
std::vector<std::string> all_keys(const Summary& summary, const std::optional<OtherSweep>& other) {
  auto keys = column_keys(summary);
  if (!other) return keys;
  for (const auto& key : column_keys(other->summary)) {
    if (std::ranges::count(keys, key) == 0) keys.push_back(key);
  }
  return keys;
}

// Of each sweep, by its name where there are two.
std::vector<std::pair<std::string, Json>> sweeps_json(const Summary& summary,
                                                      const TableOptions& options,
                                                      const std::vector<std::string>& keys) {
  const auto& other = options.other;
  std::vector<std::pair<std::string, Json>> sweeps;
  sweeps.emplace_back(other ? other->own_name : "",
                      sweep_json(summary, options.p_values.value_or(PValues()), keys));
  if (other) sweeps.emplace_back(other->name, sweep_json(other->summary, other->p_values, keys));
  return sweeps;
}

constexpr std::array kStates = {"state", "runs", "complete", "diverged"};
constexpr std::array kQuantities = {"perplexity", "bleu", "parameters"};  // that the paper has too
constexpr std::array kCosts = {"seconds", "tokens_per_second", "flops", "peak_memory_bytes"};

std::vector<std::string> csv_head(const std::vector<std::string>& keys, bool names_sweeps) {
  std::vector<std::string> head;
  if (names_sweeps) head.emplace_back("sweep");
  head.insert(head.end(), {"id", "group"});
  for (const auto& heading : headings(keys)) head.push_back(quoted(heading));
  head.insert(head.end(), kStates.begin(), kStates.end());
  for (const std::string name : kQuantities) {
    for (const char* part : {"_mean", "_sample_standard_deviation", "_paper"})
      head.push_back(name + part);
  }
  for (const std::string name : kCosts) head.push_back(name + "_mean");
  head.emplace_back("bleu_p_value_to_base");
  return head;
}

std::vector<std::string> csv_fields(const Json& row, const std::vector<std::string>& keys) {
  std::vector<std::string> fields = {field(row["id"]), field(row["group"])};
  for (const auto& key : keys) fields.push_back(field(row["settings"][key]));
  for (const char* name : kStates) fields.push_back(field(row[name]));
  for (const char* name : kQuantities) {
    const Json& figure = row[name];
    for (const char* part : {"mean", "sample_standard_deviation"}) {
      fields.push_back(figure.is_null() ? "" : field(figure[part]));
    }
    fields.push_back(field(row["paper"][name]));
  }
  for (const char* name : kCosts) {
    fields.push_back(row[name].is_null() ? "" : field(row[name]["mean"]));
  }
  fields.push_back(field(row["bleu_p_value_to_base"]));
  return fields;
}

}  // namespace

Json to_json(const Summary& summary, const TableOptions& options) {
  auto sweeps = sweeps_json(summary, options, all_keys(summary, options.other));
  if (!options.other) return sweeps[0].second;
  Json list = Json::array();
  for (auto& [name, sweep] : sweeps) {
    Json named = {{"name", name}};
    named.update(sweep);
    list.push_back(named);
  }
  return {{"schema_version", kSchemaVersion}, {"sweeps", list}};
}

std::string to_csv(const Summary& summary, const TableOptions& options) {
  const auto keys = all_keys(summary, options.other);
  std::string text = csv_line(csv_head(keys, options.other.has_value()));
  for (const auto& [name, sweep] : sweeps_json(summary, options, keys)) {
    for (const auto& row : sweep["rows"]) {
      auto fields = csv_fields(row, keys);
      if (options.other) fields.insert(fields.begin(), quoted(name));
      text += csv_line(fields);
    }
  }
  return text;
}

}  // namespace transformer
