#include "experiments/sweep.h"

#include <algorithm>
#include <map>
#include <set>

#include "experiments/grid.h"
#include "experiments/row_id.h"
#include "transformer/config_file.h"

namespace transformer {
namespace fs = std::filesystem;

namespace {

struct RowEntry {
  std::string id;
  std::string group;
  Json set = Json::object();
  PaperFigures paper;

  static void visit(auto& self, auto&& field) {
    field("id", self.id);
    field("group", self.group);
    field("set", self.set);
    field("paper", self.paper);
  }
};

struct SweepFile {
  std::string base;
  Json set = Json::object();
  Json rows = Json::array();
  Json grid = Json::object();
  std::vector<int64_t> seeds;

  static void visit(auto& self, auto&& field) {
    field("base", self.base);
    field("set", self.set);
    field("rows", self.rows);
    field("grid", self.grid);
    field("seeds", self.seeds);
  }
};

// In a sweep's folder: the base itself instead of its name, and the grid as the rows it makes.
struct KeptSweep {
  Config base;
  Json rows = Json::array();
  std::vector<int64_t> seeds;

  static void visit(auto& self, auto&& field) {
    field("base", self.base);
    field("rows", self.rows);
    field("seeds", self.seeds);
  }
};

// The value as the config keeps it once it is read: "a" in a list of strings becomes ["a"].
Json kept_value(const Config& config, const std::string& key) {
  const Json json = to_json(config);
  const size_t dot = key.find('.');
  return json.at(key.substr(0, dot)).at(key.substr(dot + 1));
}

Json kept_value(const std::string& key, const Json& value, const std::string& where) {
  if (key == "training.seed") {
    throw UserError(where + ": " + key +
                    ": a sweep's runs have their seeds from \"seeds\" or --seeds");
  }
  Config unused;
  set_field(unused, key, value, where);
  return kept_value(unused, key);
}

void check_object(const Json& json, const std::string& where) {
  if (!json.is_object()) {
    throw UserError(where + ": expected an object; got " + fields::shown(json));
  }
}

Json kept_set(const Json& set, const std::string& where, const std::string& name) {
  check_object(set, where + ": " + name);
  Json kept = Json::object();
  for (const auto& [key, value] : set.items()) kept[key] = kept_value(key, value, where);
  return kept;
}

void apply_set(Config& config, const Json& set) {
  for (const auto& [key, value] : set.items()) set_field(config, key, value);
}

constexpr size_t kMostRows = 10000;

[[noreturn]] void refuse_so_many_rows(const std::string& where) {
  throw UserError(where + ": more than " + std::to_string(kMostRows) + " rows");
}

// Of values as the config keeps them: 1 and 1.0 are one text there.
void check_values(const GridAxis& axis, const std::string& where) {
  std::set<std::string> seen;
  for (const auto& value : axis.values) {
    if (seen.insert(text_of(value)).second) continue;
    throw UserError(where + ": " + axis.key + ": the value " + fields::shown(value) +
                    " is given twice");
  }
}

std::vector<GridAxis> read_grid(const Json& grid, const std::string& file) {
  check_object(grid, file + ": grid");
  std::vector<GridAxis> axes;
  for (const auto& [key, values] : grid.items()) {
    if (!values.is_array() || values.empty()) {
      throw UserError(file + ": grid: " + fields::shown_name(key) +
                      ": expected a list of values; got " + fields::shown(values));
    }
    if (values.size() > kMostRows) refuse_so_many_rows(file);
    axes.push_back({key, {}});
    for (const auto& value : values) {
      axes.back().values.push_back(kept_value(key, value, file + ": grid"));
    }
    check_values(axes.back(), file + ": grid");
  }
  return axes;
}

// `where` they were given, in words: each key with one value or several.
std::vector<GridAxis> read_overrides(const std::vector<std::string>& overrides,
                                     const std::string& where) {
  std::vector<GridAxis> axes;
  for (const auto& text : overrides) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0) {
      throw UserError(fields::shown_name(text) +
                      ": expected section.key=value, such as model.h=4, or model.h=1,2,4");
    }
    GridAxis axis{text.substr(0, equals), {}};
    for (const auto& piece : split_list(text.substr(equals + 1), axis.key)) {
      Config config;
      override_config(config, {axis.key + "=" + piece});
      const Json value = kept_value(config, axis.key);
      axis.values.push_back(kept_value(axis.key, value, where));
    }
    check_values(axis, where);
    for (const auto& other : axes) {
      if (other.key == axis.key) throw UserError(where + ": " + axis.key + " is given twice");
    }
    axes.push_back(std::move(axis));
  }
  return axes;
}

std::vector<RowEntry> read_rows(const Json& rows, const std::string& file) {
  if (!rows.is_array()) {
    throw UserError(file + ": rows: expected a list; got " + fields::shown(rows));
  }
  if (rows.size() > kMostRows) refuse_so_many_rows(file);
  std::vector<RowEntry> entries(rows.size());
  std::set<std::string> ids;
  for (size_t i = 0; i < rows.size(); ++i) {
    RowEntry& entry = entries[i];
    const std::string place = "rows[" + std::to_string(i) + "]";
    read_fields(entry, rows[i], file, place);
    check_row_id(entry.id, file + ": " + place);
    if (!ids.insert(entry.id).second) {
      throw UserError(file + ": row " + entry.id + ": two rows have this id");
    }
    entry.set = kept_set(entry.set, file + ": row " + entry.id, "set");
  }
  return entries;
}

// One axis a key: the command line's beats the file's.
std::vector<GridAxis> merged(std::vector<GridAxis> grid, const std::vector<GridAxis>& overrides) {
  for (const auto& axis : overrides) {
    const auto same = [&](const GridAxis& other) { return other.key == axis.key; };
    const auto found = std::find_if(grid.begin(), grid.end(), same);
    if (found != grid.end()) {
      *found = axis;
    } else if (axis.values.size() > 1) {
      grid.push_back(axis);
    }
  }
  return grid;
}

void check_different(const std::vector<SweepRow>& rows, const std::string& file) {
  std::map<std::string, const SweepRow*> seen;
  std::set<std::string> ids;
  for (const auto& row : rows) {
    if (!ids.insert(row.id).second)
      throw UserError(file + ": row " + row.id + ": two rows have this id");
    const auto [first, is_new] = seen.emplace(text_of(to_json(row.config)), &row);
    if (!is_new) {
      throw UserError(file + ": row " + row.id + ": the same experiment as row " +
                      first->second->id);
    }
  }
}

// Before the product is made: a few short lists can ask for more than there is memory.
void check_count(size_t rows, const std::vector<GridAxis>& grid, const std::string& file) {
  for (const auto& axis : grid) rows = std::min(rows, kMostRows + 1) * axis.values.size();
  if (rows > kMostRows) refuse_so_many_rows(file);
}

SweepRow resolved_row(const Sweep& sweep, const RowEntry& entry, const Json& point,
                      const std::string& file) {
  const std::string where = file + ": row " + entry.id;
  for (const auto& [key, unused] : point.items()) {
    if (entry.set.contains(key)) {
      throw UserError(where + ": " + key +
                      ": the row sets it, and so does the grid; leave one out");
    }
  }
  const std::string point_id = grid_id(point);
  const bool both = !entry.id.empty() && !point_id.empty();
  SweepRow row{entry.id + (both ? "--" : "") + point_id, entry.group, entry.set, entry.paper,
               sweep.base};
  check_row_id(row.id, file);
  apply_set(row.config, entry.set);
  const Config without_grid = row.config;
  row.set.update(point);
  apply_set(row.config, point);
  // The paper's figures are of its row, not of the variants that a grid makes of it.
  if (!(row.config == without_grid)) row.paper = {};
  row.config = resolve(row.config, file + ": row " + row.id);
  return row;
}

bool has_sweep_keys(const Json& json) {
  const auto has = [&](const char* key) { return json.is_object() && json.contains(key); };
  return has("rows") || has("grid") || has("set") || has("seeds");
}

// What the content of a file makes of its base. `where` stands before what is wrong of the rows
// once the overrides are applied, `given_in` before what is wrong of those.
Sweep assembled(const Json& json, const Config& base, const fs::path& path,
                const std::vector<std::string>& overrides, const std::string& where,
                const std::string& given_in = kCommandLine) {
  const std::string file = path.string();
  const auto has = [&](const char* key) { return json.is_object() && json.contains(key); };
  Sweep sweep{base, {}, {}};
  SweepFile content;
  if (has_sweep_keys(json)) read_fields(content, json, file);
  if (has("rows") && content.rows.is_array() && content.rows.empty()) {
    throw UserError(file + ": rows: expected at least one row; got []; leave it out to run " +
                    (has("grid") ? "the grid alone" : "the base alone"));
  }
  if (has("grid") && content.grid.is_object() && content.grid.empty()) {
    throw UserError(file + ": grid: expected a key with its list of values; got {}");
  }
  const auto given = read_overrides(overrides, given_in);
  apply_set(sweep.base, kept_set(content.set, file, "set"));
  auto entries = read_rows(content.rows, file);
  for (const auto& axis : given) {
    if (axis.values.size() > 1) continue;
    apply_set(sweep.base, Json{{axis.key, axis.values[0]}});
    for (auto& entry : entries) {
      if (entry.set.contains(axis.key)) entry.set[axis.key] = axis.values[0];
    }
  }
  const auto grid = merged(read_grid(content.grid, file), given);
  if (entries.empty()) {
    entries.emplace_back();
    if (grid.empty()) entries[0].id = row_id_of(path.stem().string());
  }
  check_count(entries.size(), grid, where);
  const auto points = product(grid);
  for (const auto& entry : entries) {
    for (const auto& point : points) sweep.rows.push_back(resolved_row(sweep, entry, point, where));
  }
  check_different(sweep.rows, where);
  sweep.seeds = has("seeds") ? content.seeds : std::vector{sweep.base.training.seed};
  check_seeds(sweep.seeds, file + ": seeds");
  return sweep;
}

Sweep load(const fs::path& path, const std::vector<std::string>& overrides,
           const std::string& where) {
  const Json json = read_config_file(path);
  if (!has_sweep_keys(json)) return assembled(json, read_config(path), path, overrides, where);
  SweepFile content;
  read_fields(content, json, path.string());
  if (content.base.empty()) {
    throw UserError(path.string() + ": base: expected the experiment it starts from");
  }
  const Config base = read_config(path.parent_path() / content.base);
  return assembled(json, base, path, overrides, where);
}

bool is_sound(const fs::path& path) {
  try {
    load(path, {}, "");
    return true;
  } catch (const UserError&) {
    return false;
  }
}

}  // namespace

void check_seeds(const std::vector<int64_t>& seeds, const std::string& where) {
  if (seeds.empty()) throw UserError(where + ": expected at least one seed");
  std::set<int64_t> seen;
  for (const int64_t seed : seeds) {
    if (seed < 1) {
      throw UserError(where + ": expected seeds from 1; got " + std::to_string(seed));
    }
    if (!seen.insert(seed).second) {
      throw UserError(where + ": the seed " + std::to_string(seed) + " is given twice");
    }
  }
}

Sweep load_sweep(const fs::path& path, const std::vector<std::string>& overrides) {
  try {
    return load(path, overrides, path.string());
  } catch (const UserError&) {
    if (overrides.empty() || !is_sound(path)) throw;
  }
  return load(path, overrides, kCommandLine);  // throws too, and names it
}

Sweep sweep_of(const Json& content, const Config& base, const fs::path& name,
               const std::vector<std::string>& overrides, const std::string& where) {
  return assembled(content, base, name, overrides, where, where);
}

void select_rows(Sweep& sweep, const std::vector<std::string>& ids) {
  std::vector<std::string> known;
  for (const auto& row : sweep.rows) known.push_back(row.id);
  std::set<std::string> given;
  for (const auto& id : ids) {
    if (std::find(known.begin(), known.end(), id) == known.end()) {
      throw UserError("row " + fields::shown_name(id) + ": not in this sweep" +
                      nearest_key(id, known));
    }
    if (!given.insert(id).second) throw UserError("row " + id + " is given twice");
  }
  std::erase_if(sweep.rows, [&](const SweepRow& row) {
    return std::find(ids.begin(), ids.end(), row.id) == ids.end();
  });
}

Json to_json(const Sweep& sweep) {
  Json rows = Json::array();
  for (const auto& row : sweep.rows) {
    rows.push_back(to_json(RowEntry{row.id, row.group, row.set, row.paper}));
  }
  return {{"base", to_json(sweep.base)}, {"rows", rows}, {"seeds", sweep.seeds}};
}

Sweep sweep_from_json(const Json& json, const std::string& where) {
  const auto kept = from_json<KeptSweep>(json, where);
  check_seeds(kept.seeds, where + ": seeds");
  Sweep sweep{kept.base, {}, kept.seeds};
  for (const auto& entry : read_rows(kept.rows, where)) {
    sweep.rows.push_back(resolved_row(sweep, entry, Json::object(), where));
  }
  return sweep;
}

}  // namespace transformer
