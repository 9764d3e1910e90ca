#include "experiments/record.h"

#include <algorithm>
#include <set>
#include <utility>

#include "experiments/row_id.h"
#include "transformer/error.h"
#include "transformer/files.h"
#include "transformer/sealed_json.h"

namespace transformer {
namespace fs = std::filesystem;

namespace {

const Json& member(const Json& json, const std::string& key, const std::string& where) {
  const auto found = json.find(key);
  if (found == json.end()) throw UserError(where + ": " + key + ": missing");
  return *found;
}

// A file that was cut is damaged too.
Json read_record(const fs::path& path) {
  const std::string text = read_file(path);
  try {
    return read_sealed(text, path.string(), Seal::where_there_is_one);
  } catch (const UserError& error) {
    throw Damaged(error.what());
  }
}

class OtherVersion : public UserError {
 public:
  using UserError::UserError;
};

// The object without its schema version.
Json versioned(Json json, const std::string& file) {
  if (!json.is_object()) {
    throw UserError(file + ": expected an object; got " + fields::shown(json));
  }
  int64_t version = 0;
  fields::read(version, member(json, "schema_version", file), file + ": schema_version");
  if (version != kSchemaVersion) {
    throw OtherVersion(file + ": schema_version: this program reads " +
                       std::to_string(kSchemaVersion) + "; got " + std::to_string(version) +
                       "; read it with the version of the program that wrote it");
  }
  json.erase("schema_version");
  return json;
}

// More than any config has: tables take time for each, and hostile files have millions.
constexpr size_t kMostKeys = 1000;

size_t count_keys(const Json& json) {
  if (!json.is_structured()) return 0;  // a scalar would be its own only value
  size_t count = json.is_object() ? json.size() : 0;
  for (const auto& value : json) count += count_keys(value);
  return count;
}

void check_config(const Json& config, const std::string& where) {
  if (count_keys(config) > kMostKeys) {
    throw UserError(where + ": config: expected at most " + std::to_string(kMostKeys) + " keys");
  }
}

// A record has no defaults: a key that is not there is damage, not a choice.
Result result_in(const Json& json, const std::string& where) {
  const auto result = from_json<Result>(json, where);
  for (const auto& key : known_keys<Result>()) {
    std::string pointer = "/" + key;
    std::replace(pointer.begin(), pointer.end(), '.', '/');
    if (!json.contains(Json::json_pointer(pointer)))
      throw UserError(where + ": " + key + ": missing");
  }
  check_config(result.config, where);
  return result;
}

const Json& list(const Json& json, const std::string& key, const std::string& where) {
  const Json& value = member(json, key, where);
  if (!value.is_array()) {
    throw UserError(where + ": " + key + ": expected a list; got " + fields::shown(value));
  }
  return value;
}

RowRecord read_row(const Json& json, const std::string& where) {
  // A row may lack figures of the paper, its group, and in a file written by hand its config.
  auto row = from_json<RowRecord>(json, where);
  if (row.id.empty()) throw UserError(where + ": id: missing");
  check_row_id(row.id, where);
  check_config(row.config, where);
  for (const auto& [key, value] : {std::pair{"set", &row.set}, {"config", &row.config}}) {
    if (value->is_object() || (value->is_null() && value == &row.config)) continue;
    throw UserError(where + ": " + key + ": expected an object; got " + fields::shown(*value));
  }
  return row;
}

// Each is a column of a table, for every row.
void add_keys(const Json& set, std::set<std::string>& keys, const std::string& where) {
  for (const auto& [key, unused] : set.items()) keys.insert(key);
  if (keys.size() > kMostKeys) {
    throw UserError(where + ": the rows set more than " + std::to_string(kMostKeys) + " keys");
  }
}

struct RunHead {
  std::string id;
  int64_t seed = 0;
  RunState state = RunState::missing;

  static void visit(auto& self, auto&& field) {
    field("id", self.id);
    field("seed", self.seed);
    field("state", self.state);
  }
};

RunRecord read_run(Json json, const std::string& where) {
  Json head = Json::object();
  if (json.is_object()) {
    for (const auto& key : known_keys<RunHead>()) {
      head[key] = member(json, key, where);
      if (key != "seed") json.erase(key);
    }
  } else {
    head = json;  // refused below
  }
  const auto [id, seed, state] = from_json<RunHead>(head, where);
  RunRecord run{id, seed, state, std::nullopt};
  if (state == RunState::diverged) {
    fields::read(run.diverged_at.emplace(), member(json, "step", where), where + ": step");
    json.erase("step");
  }
  const bool may_tell =
      state == RunState::failed || state == RunState::interrupted || state == RunState::diverged;
  if (may_tell && json.contains("message")) {
    fields::read(run.message, json["message"], where + ": message");
    json.erase("message");
  }
  if (state == RunState::complete) {
    run.result = result_in(json, where);
  } else if (json.size() > 1) {
    throw UserError(where + ": a run that is " + name_of(state) + " has no result; got " +
                    fields::shown(json));
  }
  return run;
}

Json run_json(const RunRecord& run) {
  Json json = to_json(RunHead{run.id, run.seed, run.state});
  if (run.result) json.update(to_json(*run.result));
  if (run.diverged_at) json["step"] = *run.diverged_at;
  if (!run.message.empty()) json["message"] = run.message;
  return json;
}

}  // namespace

fs::path run_folder_in(const fs::path& sweep, const std::string& row, int64_t seed) {
  return sweep / row / ("seed-" + std::to_string(seed));
}

int64_t train_steps_stated_in(const RowRecord& row) {
  const Json::json_pointer steps("/training/train_steps");
  return row.config.contains(steps) && row.config[steps].is_number_integer()
             ? row.config[steps].get<int64_t>()
             : 0;
}

Result read_result(const fs::path& path) {
  const std::string file = path.string();
  const std::string text = read_file(path);
  bool is_whole = false;
  try {
    const Json as_it_stands = parse_json(text, file);
    Json json = read_sealed(text, file, Seal::where_there_is_one);
    // What does not fit is then as it was written, by another version.
    is_whole = json.size() < as_it_stands.size();
    return result_in(versioned(std::move(json), file), file);
  } catch (const OtherVersion&) {
    throw;
  } catch (const UserError& error) {
    if (is_whole) throw;
    throw Damaged(error.what());
  }
}

void write_result(const fs::path& path, const Result& result) {
  Json json = {{"schema_version", kSchemaVersion}};
  json.update(to_json(result));
  write_sealed(path, json);
}

Results read_results(const fs::path& path) {
  const std::string file = path.string();
  const Json json = versioned(read_record(path), file);
  const std::vector<std::string> known = {"sweep", "rows", "results"};
  for (const auto& [key, unused] : json.items()) {
    if (std::find(known.begin(), known.end(), key) == known.end()) {
      throw UserError(file + ": " + fields::shown_name(key) + ": unknown key" +
                      nearest_key(key, known));
    }
  }
  Results results;
  results.sweep = member(json, "sweep", file);
  std::set<std::string> ids, keys;
  for (const auto& item : list(json, "rows", file)) {
    const std::string where = file + ": rows[" + std::to_string(results.rows.size()) + "]";
    results.rows.push_back(read_row(item, where));
    add_keys(results.rows.back().set, keys, where + ": set");
    const std::string& id = results.rows.back().id;
    if (!ids.insert(id).second)
      throw UserError(where + ": id: " + fields::shown(id) + " is there twice");
  }
  std::set<std::pair<std::string, int64_t>> runs;
  for (const auto& item : list(json, "results", file)) {
    const std::string where = file + ": results[" + std::to_string(results.results.size()) + "]";
    results.results.push_back(read_run(item, where));
    const auto& run = results.results.back();
    if (!ids.contains(run.id)) {
      throw UserError(where + ": id: no row is called " + fields::shown(run.id));
    }
    if (!runs.emplace(run.id, run.seed).second) {
      throw UserError(where + ": row " + fields::shown(run.id) + ", seed " +
                      std::to_string(run.seed) + ": there twice");
    }
  }
  return results;
}

void write_results(const fs::path& path, const Results& results) {
  Json rows = Json::array();
  for (const auto& row : results.rows) rows.push_back(to_json(row));
  Json runs = Json::array();
  for (const auto& run : results.results) runs.push_back(run_json(run));
  write_sealed(path, {{"schema_version", kSchemaVersion},
                      {"sweep", results.sweep},
                      {"rows", rows},
                      {"results", runs}});
}

}  // namespace transformer
