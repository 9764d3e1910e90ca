#include "experiments/sweep_folder.h"

#include <algorithm>

#include "experiments/machine.h"
#include "experiments/record.h"
#include "transformer/error.h"
#include "transformer/files.h"
#include "transformer/version.h"

namespace transformer {
namespace fs = std::filesystem;

namespace {

// What is told of a sweep beside the sweep itself.
struct Origin {
  int64_t schema_version = kSchemaVersion;
  std::string version = kVersion;
  std::string commit = kCommit;
  Machine machine = this_machine();

  static void visit(auto& self, auto&& field) {
    field("schema_version", self.schema_version);
    field("version", self.version);
    field("commit", self.commit);
    field("machine", self.machine);
  }
};

Json with_origin(const Sweep& sweep) {
  Json json = to_json(Origin{});
  json.update(to_json(sweep));
  return json;
}

Sweep read_sweep(const fs::path& path) {
  Json json = read_json(path);
  if (json.is_object()) {
    for (const auto& key : {"schema_version", "version", "commit", "machine"}) json.erase(key);
  }
  return sweep_from_json(json, path.string());
}

void check_same(const Config& there, const Config& here, const std::string& folder,
                const std::string& which) {
  if (there == here) return;
  const Json old_values = to_json(there);
  const Json new_values = to_json(here);
  for (const auto& key : known_keys<Config>()) {
    const size_t dot = key.find('.');
    const Json& before = old_values.at(key.substr(0, dot)).at(key.substr(dot + 1));
    const Json& now = new_values.at(key.substr(0, dot)).at(key.substr(dot + 1));
    if (before == now) continue;
    throw UserError(folder + ": holds another sweep: " + which + ": " + key + ": " +
                    fields::shown(before) + " there; " + fields::shown(now) +
                    " now; take another --out folder, or give the value it has there");
  }
}

Sweep joined(const Sweep& there, const Sweep& here, const std::string& folder) {
  check_same(there.base, here.base, folder, "every row");
  Sweep all = here;
  for (const auto& row : there.rows) {
    const auto same_id = [&](const SweepRow& other) { return other.id == row.id; };
    const auto found = std::find_if(here.rows.begin(), here.rows.end(), same_id);
    if (found == here.rows.end()) {
      all.rows.push_back(row);
    } else {
      check_same(row.config, found->config, folder, "row " + row.id);
    }
  }
  for (const int64_t seed : there.seeds) {
    if (std::find(all.seeds.begin(), all.seeds.end(), seed) == all.seeds.end()) {
      all.seeds.push_back(seed);
    }
  }
  std::sort(all.seeds.begin(), all.seeds.end());
  return all;
}

const fs::path& made(const fs::path& folder) {
  make_folder(folder);
  return folder;
}

}  // namespace

SweepFolder::SweepFolder(const fs::path& folder, const Sweep& sweep)
    : folder_(made(folder)), lock_(folder), sweep_(sweep) {
  const fs::path file = folder / "sweep.json";
  if (fs::exists(file)) sweep_ = joined(read_sweep(file), sweep, folder.string());
  write_json(file, with_origin(sweep_));
}

fs::path SweepFolder::run_folder(const Run& run) const {
  return folder_ / run.first / ("seed-" + std::to_string(run.second));
}

bool SweepFolder::is_complete(const Run& run) const {
  return fs::exists(run_folder(run) / "result.json");
}

void SweepFolder::prepare(const SweepRow& row, int64_t seed) const {
  const fs::path folder = run_folder({row.id, seed});
  make_folder(folder);
  // A run that has begun may have stated there what it found out, as the size of its vocabulary.
  if (!fs::exists(folder / "config.json")) {
    Config config = row.config;
    config.training.seed = seed;
    write_json(folder / "config.json", to_json(config));
  }
  fs::remove(folder / "failure.txt");
}

void SweepFolder::note_failure(const Run& run, const std::string& message) const {
  write_file(run_folder(run) / "failure.txt", message + "\n");
}

void SweepFolder::write_results(const std::set<Run>& running) const {
  Results results{with_origin(sweep_), {}, {}};
  for (const auto& row : sweep_.rows) {
    results.rows.push_back({row.id, row.group, row.set, row.paper, to_json(row.config)});
    for (const int64_t seed : sweep_.seeds) {
      const Run run{row.id, seed};
      RunRecord record{row.id, seed, RunState::missing, {}, ""};
      const fs::path failure = run_folder(run) / "failure.txt";
      if (is_complete(run)) {
        record.state = RunState::complete;
        record.result = read_result(run_folder(run) / "result.json");
      } else if (running.contains(run)) {
        record.state = RunState::running;
      } else if (fs::exists(failure)) {
        record.state = RunState::failed;
        record.message = read_file(failure);
        while (record.message.ends_with('\n')) record.message.pop_back();
      }
      results.results.push_back(std::move(record));
    }
  }
  transformer::write_results(folder_ / "results.json", results);
}

}  // namespace transformer
