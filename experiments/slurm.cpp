#include "experiments/slurm.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <sstream>
#include <vector>

#include "experiments/other_program.h"
#include "experiments/row_id.h"
#include "transformer/error.h"
#include "transformer/files.h"
#include "transformer/fingerprint.h"
#include "transformer/printable.h"
#include "transformer/sealed_json.h"

namespace transformer {
namespace fs = std::filesystem;

namespace {

Answer ask_slurm(const std::string& program, const std::vector<std::string>& arguments) {
  try {
    return ask(program, arguments);
  } catch (const Failure& failure) {
    throw Failure(failure.what() +
                  std::string("; it is one of Slurm's commands, and has to be in PATH: call this "
                              "where jobs are submitted; --dry-run prints the script anywhere"));
  }
}

// What it printed, where it did well.
std::string slurm_says(const std::string& program, const std::vector<std::string>& arguments) {
  const Answer answer = ask_slurm(program, arguments);
  if (answer.code == 0) return answer.out;
  constexpr size_t kMost = 600;
  std::string why = answer.err.empty() ? answer.out : answer.err;
  while (why.ends_with('\n')) why.pop_back();
  if (why.empty()) why = "ended with exit code " + std::to_string(answer.code);
  if (!why.starts_with(program + ": ")) why = program + ": " + why;
  throw Failure(printable(why, kMost));
}

struct Ledger {
  std::vector<std::string> rows;
  std::vector<int64_t> seeds;

  static void visit(auto& self, auto&& field) {
    field("rows", self.rows);
    field("seeds", self.seeds);
  }
};

std::vector<SweepFolder::Run> read_ledger(const fs::path& file) {
  try {
    const auto ledger = from_json<Ledger>(read_sealed(file), file.string());
    std::vector<SweepFolder::Run> runs;
    for (size_t i = 0; i < std::min(ledger.rows.size(), ledger.seeds.size()); ++i) {
      runs.emplace_back(ledger.rows[i], ledger.seeds[i]);
    }
    return runs;
  } catch (const UserError& damage) {
    throw UserError(std::string(damage.what()) + "; so it is not known which runs the tasks of " +
                    file.stem().string() + " are: scancel --name=" + file.stem().string() +
                    ", and remove the file");
  }
}

// By the job's name, which is the file's.
std::map<std::string, std::vector<SweepFolder::Run>> ledgers_in(const fs::path& folder) {
  std::map<std::string, std::vector<SweepFolder::Run>> jobs;
  for (const auto& file : slurm_ledgers_in(folder)) {
    jobs.emplace(file.stem().string(), read_ledger(file));
  }
  return jobs;
}

// A state that is none of these may yet become one.
bool is_ended(const std::string& state) {
  constexpr std::array kEnded = {"BOOT_FAIL", "CANCELLED", "COMPLETED",     "DEADLINE",
                                 "FAILED",    "NODE_FAIL", "OUT_OF_MEMORY", "PREEMPTED",
                                 "REVOKED",   "TIMEOUT",   "LAUNCH_FAILED"};
  return std::ranges::any_of(kEnded, [&](const char* each) { return state == each; });
}

bool is_waiting(const std::string& state) {
  return state == "PENDING" || state == "CONFIGURING" || state.starts_with("REQUEUE") ||
         state == "SPECIAL_EXIT";
}

SlurmTask task_of(const std::string& id, const std::string& state, const std::string& reason) {
  using State = SlurmTask::State;
  if (is_ended(state)) return {State::ended, id, state};
  if (is_waiting(state)) return {State::queued, id, reason == "None" ? "" : reason};
  return {State::running, id, state};
}

std::vector<std::string> pieces_of(const std::string& line, char separator) {
  std::vector<std::string> pieces;
  std::istringstream in(line);
  for (std::string piece; std::getline(in, piece, separator);) pieces.push_back(piece);
  return pieces;
}

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// In sbatch's --output a % begins a pattern, and a backslash turns them off.
std::string output_pattern(const fs::path& folder) {
  std::string pattern;
  for (const char c : folder.string()) pattern += c == '%' ? std::string("%%") : std::string(1, c);
  if (pattern.find('\\') != std::string::npos) {
    throw UserError(folder.string() +
                    ": has a backslash, which Slurm does not take in a log's path; take another "
                    "--out folder");
  }
  return pattern + "/%x_%a.log";
}

}  // namespace

std::string described(const SlurmTask& task) {
  return "task " + task.id + (task.detail.empty() ? "" : ": " + task.detail);
}

std::vector<fs::path> slurm_ledgers_in(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(folder / "slurm", none)) {
    const auto& file = entry.path();
    if (file.extension() != ".json") continue;
    if (std::ranges::all_of(file.stem().string(), fits_an_id)) files.push_back(file);
  }
  std::ranges::sort(files);
  return files;
}

std::map<SweepFolder::Run, SlurmTask> slurm_tasks(const fs::path& folder) {
  const auto jobs = ledgers_in(folder);
  if (jobs.empty()) return {};
  std::string names;
  for (const auto& [name, runs] : jobs) names += (names.empty() ? "" : ",") + name;
  const std::string queue = slurm_says("squeue", {"--noheader", "--array", "--states=all",
                                                  "--name=" + names, "--format=%j|%i|%K|%T|%r"});
  std::map<SweepFolder::Run, SlurmTask> tasks;
  for (const auto& line : pieces_of(queue, '\n')) {
    const auto fields = pieces_of(line, '|');
    if (fields.size() != 5 || !jobs.contains(fields[0])) continue;
    const auto& runs = jobs.at(fields[0]);
    size_t index = 0;
    const auto& text = fields[2];
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), index);
    if (error != std::errc() || index >= runs.size()) continue;
    const SlurmTask task = task_of(fields[1], fields[3], fields[4]);
    const auto [known, is_new] = tasks.emplace(runs[index], task);
    if (!is_new && known->second.state == SlurmTask::State::ended) known->second = task;
  }
  return tasks;
}

std::string slurm_job_name(const fs::path& folder) {
  std::string name = fs::absolute(folder).lexically_normal().filename().string();
  if (name.empty()) name = "sweep";  // a slash ends the path
  std::ranges::replace_if(
      name, [](char c) { return !fits_an_id(c); }, '_');
  if (name[0] == '.' || name[0] == '-') name[0] = '_';
  constexpr size_t kMost = 40;
  const auto now = std::chrono::system_clock::now().time_since_epoch().count();
  return name.substr(0, kMost) + "-" + hexadecimal(static_cast<uint64_t>(now));
}

std::string submit(const SlurmJob& job) {
  const fs::path folder = job.run.folder / "slurm";
  const std::string output = output_pattern(folder);
  Ledger ledger;
  for (const auto& [row, seed] : job.runs) {
    ledger.rows.push_back(row);
    ledger.seeds.push_back(seed);
  }
  make_folder(folder);
  const fs::path script = folder / (job.name + ".sh");
  write_file(script, slurm_script(job));
  write_sealed(folder / (job.name + ".json"), to_json(ledger));
  // The name beats SBATCH_JOB_NAME, which would beat the script's: by it the tasks are found.
  const std::string id = slurm_says("sbatch", {"--parsable", "--output=" + output,
                                               "--job-name=" + job.name, "--", script.string()});
  return id.substr(0, id.find_first_of(";\n"));  // a cluster's name may follow
}

std::string own_slurm_task() {
  const std::string job = variable("SLURM_ARRAY_JOB_ID");
  const std::string task = variable("SLURM_ARRAY_TASK_ID");
  return job.empty() || task.empty() ? "" : job + "_" + task;
}

int64_t slurm_restarts() { return std::atoll(variable("SLURM_RESTART_COUNT").c_str()); }

void requeue(const std::string& task) { slurm_says("scontrol", {"requeue", task}); }

}  // namespace transformer
