#include "experiments/sweep_folder.h"

#include <algorithm>

#include "experiments/departures.h"
#include "experiments/machine.h"
#include "experiments/own_folder.h"
#include "experiments/record.h"
#include "experiments/run_folder.h"
#include "experiments/run_log.h"
#include "transformer/error.h"
#include "transformer/files.h"
#include "transformer/sealed_json.h"
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

Json with_origin(const Sweep& sweep, const DataFingerprints& data) {
  Json json = to_json(Origin{});
  json["data"] = data.to_json();
  json.update(to_json(sweep));
  return json;
}

Sweep read_sweep(const fs::path& path) {
  try {
    Json json = read_sealed(path, Seal::where_there_is_one);
    if (json.is_object()) {
      for (const auto& key : {"schema_version", "version", "commit", "machine", "data"}) {
        json.erase(key);
      }
    }
    return sweep_from_json(json, path.string());
  } catch (const UserError& error) {
    throw UserError(std::string(error.what()) + "; without this file the sweep writes it anew");
  }
}

void check_same(const Config& there, const Config& here, const std::string& folder,
                const std::string& which) {
  const auto different = differences(there, here);
  if (different.empty()) return;
  throw UserError(folder + ": holds another sweep: " + which + ": " +
                  both_values(different.front()) +
                  "; take another --out folder, or give the value it has there");
}

// What is wrong with the file; empty where nothing is.
std::string damage_of_config(const fs::path& file) {
  try {
    read_config(file);
    return "";
  } catch (const UserError& damage) {
    return damage.what();
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

std::string interrupted_at(const fs::path& run, int64_t train_steps) {
  return "at step " + std::to_string(last_checkpoint(run / "checkpoints")) + " of " +
         std::to_string(train_steps);
}

// What the run of a row is trained with; nothing where the sweep has no such row.
std::optional<Config> config_of(const Sweep& sweep, const SweepFolder::Run& run) {
  for (const auto& row : sweep.rows) {
    if (row.id != run.first) continue;
    Config config = row.config;
    config.training.seed = run.second;
    return config;
  }
  return std::nullopt;
}

// `config`: of the run that it is to be of, where that is known.
RunResult result_of_run(const fs::path& folder, const std::optional<Config>& config) {
  const fs::path file = folder / "result.json";
  if (!fs::exists(file)) return {};
  try {
    Result result = read_result(file);
    if (config) expect_of_run(result, *config, file);
    if (fs::exists(folder / "model.safetensors")) return {std::move(result)};
    return {std::nullopt, (folder / "model.safetensors").string() + ": is missing"};
  } catch (const UserError& error) {
    return {std::nullopt, error.what()};
  }
}

// A run as its folder tells; it is running where a process holds it, or `is_running`.
RunRecord record_of_run(const fs::path& sweep, const SweepFolder::Run& run,
                        const std::optional<Config>& config, int64_t train_steps, bool is_running) {
  const fs::path folder = run_folder_in(sweep, run.first, run.second);
  const fs::path failure = folder / "failure.txt";
  RunRecord record{run.first, run.second, RunState::missing, {}, ""};
  auto [result, problem] = result_of_run(folder, config);
  if (result) {
    record.state = RunState::complete;
    record.result = std::move(result);
  } else if (is_running || is_locked(folder)) {
    record.state = RunState::running;
  } else if (const auto divergence = read_divergence(folder)) {
    record.state = RunState::diverged;
    record.diverged_at = divergence->step;
    record.message = divergence->message;
  } else if (fs::exists(failure)) {
    record.state = RunState::failed;
    record.message = read_file(failure);
    while (record.message.ends_with('\n')) record.message.pop_back();
  } else if (!problem.empty()) {
    record.state = RunState::failed;
    record.message = problem;
  } else if (fs::exists(folder / "log.txt")) {
    record.state = RunState::interrupted;
    record.message = interrupted_at(folder, train_steps);
  }
  return record;
}

bool is_sweep(const fs::path& folder) {
  return lock_file_in(folder) == LockFile::ours ||
         can_be_read([&] { read_sweep(folder / "sweep.json"); }) ||
         can_be_read([&] { read_results(folder / "results.json"); });
}

const fs::path& made(const fs::path& folder, const Sweep& sweep) {
  expect_own_sweep(folder, sweep);
  make_folder(folder);
  return folder;
}

}  // namespace

void expect_own_sweep(const fs::path& folder, const Sweep& sweep) {
  if (held_by(folder) == "run") {
    throw UserError(folder.string() + ": holds a run; take another --out folder for the sweep");
  }
  if (is_sweep(folder)) return;
  expect_none_of({"sweep.json", "results.json", "lock"}, folder, "sweep");
  auto files = run_files();
  files.insert(files.end(), {"log.txt", "failure.txt"});
  for (const auto& row : sweep.rows) {
    for (const int64_t seed : sweep.seeds) {
      const fs::path run = run_folder_in(folder, row.id, seed);
      if (!is_run(run)) expect_none_of(files, run, "run");
    }
  }
}

Sweep joined_with(const fs::path& folder, const Sweep& sweep) {
  const fs::path file = folder / "sweep.json";
  return fs::exists(file) ? joined(read_sweep(file), sweep, folder.string()) : sweep;
}

Sweep sweep_in(const fs::path& folder) { return read_sweep(folder / "sweep.json"); }

SweepFolder::SweepFolder(const fs::path& folder, const Sweep& sweep)
    : folder_(made(folder, sweep)),
      lock_(std::make_unique<FolderLock>(
          folder, std::vector<std::string>{"sweep.json", "results.json"}, "sweep")),
      sweep_(joined_with(folder, sweep)),
      data_(sweep_) {
  write_sealed(folder / "sweep.json", with_origin(sweep_, data_));
}

SweepFolder::SweepFolder(const fs::path& folder, const Sweep& sweep, Unlocked)
    : folder_(folder), sweep_(joined_with(folder, sweep)), data_(Sweep{}) {}

fs::path SweepFolder::run_folder(const Run& run) const {
  return run_folder_in(folder_, run.first, run.second);
}

RunResult SweepFolder::result(const Run& run) const {
  return result_of_run(run_folder(run), config_of(sweep_, run));
}

Standing SweepFolder::standing(const Run& run, const DamageOfModel& damage_of_model) const {
  auto [result, problem] = this->result(run);
  if (result && damage_of_model) problem = damage_of_model(run_folder(run) / "model.safetensors");
  const bool is_diverged = !result && problem.empty() && divergence(run);
  return {result && problem.empty(), is_diverged, problem};
}

std::optional<Divergence> SweepFolder::divergence(const Run& run) const {
  return read_divergence(run_folder(run));
}

RunRecord SweepFolder::record(const Run& run, int64_t train_steps) const {
  return record_of_run(folder_, run, config_of(sweep_, run), train_steps, false);
}

std::string SweepFolder::prepare(const SweepRow& row, int64_t seed) const {
  const fs::path folder = run_folder({row.id, seed});
  make_folder(folder);
  mark_folder(folder, "run");
  // A run that has begun may have stated there what it found out, as the size of its vocabulary.
  const fs::path file = folder / "config.json";
  const std::string damage = fs::exists(file) ? damage_of_config(file) : "";
  if (!fs::exists(file) || !damage.empty()) {
    Config config = row.config;
    config.training.seed = seed;
    write_sealed(file, to_json(config));
  }
  fs::remove(folder / "failure.txt");
  return damage;
}

void SweepFolder::note_failure(const Run& run, const std::string& message) const {
  write_file(run_folder(run) / "failure.txt", message + "\n");
}

void SweepFolder::write_results(const std::set<Run>& running) {
  if (!lock_) return;
  if (data_.look_again()) write_sealed(folder_ / "sweep.json", with_origin(sweep_, data_));
  Results results{with_origin(sweep_, data_), {}, {}};
  for (const auto& row : sweep_.rows) {
    RowRecord kept{row.id, row.group, row.set, row.paper, to_json(row.config)};
    kept.departures = to_json(departures_from_paper(kept));
    results.rows.push_back(std::move(kept));
    for (const int64_t seed : sweep_.seeds) {
      const Run run{row.id, seed};
      results.results.push_back(record_of_run(folder_, run, config_of(sweep_, run),
                                              row.config.training.train_steps,
                                              running.contains(run)));
    }
  }
  transformer::write_results(folder_ / "results.json", results);
}

namespace {

// Nothing where a file written by hand does not say.
std::optional<Config> config_stated_in(const RowRecord& row, int64_t seed) {
  try {
    Config config = resolve(from_json<Config>(row.config));
    config.training.seed = seed;
    return config;
  } catch (const UserError&) {
    return std::nullopt;
  }
}

}  // namespace

Results read_sweep_results(const fs::path& folder) {
  const fs::path file = folder / "results.json";
  if (!fs::exists(file) && is_run(folder)) {
    throw UserError(folder.string() +
                    ": is a run's folder, and this is of sweeps; a run of a sweep "
                    "lies in DIR/ROW/seed-S: name DIR");
  }
  if (!fs::exists(file)) {
    throw UserError(file.string() + ": expected the results of a sweep; there is no such file; " +
                    "make it with: transformer sweep SWEEP --out " + folder.string());
  }
  Results results;
  try {
    results = read_results(file);
  } catch (const Damaged& damage) {
    throw UserError(std::string(damage.what()) +
                    "; the sweep, run again, makes it anew from the runs' own results");
  }
  const bool is_at_work = is_locked(folder);
  for (auto& run : results.results) {
    if (run.state == RunState::complete) {
      run.is_lost = !fs::exists(run_folder_in(folder, run.id, run.seed) / "result.json");
      continue;
    }
    const bool is_running = run.state == RunState::running && is_at_work;
    const SweepFolder::Run name{run.id, run.seed};
    if (!fs::exists(run_folder_in(folder, run.id, run.seed))) {  // the file alone was brought here
      if (run.state == RunState::running && !is_running) run.state = RunState::interrupted;
      continue;
    }
    const auto row = std::find_if(results.rows.begin(), results.rows.end(),
                                  [&](const RowRecord& each) { return each.id == run.id; });
    run = record_of_run(folder, name, config_stated_in(*row, run.seed), train_steps_stated_in(*row),
                        is_running);
  }
  return results;
}

}  // namespace transformer
