#include "experiments/slurm_script.h"

#include <algorithm>
#include <array>
#include <sstream>
#include <string_view>
#include <utility>

#include "transformer/error.h"
#include "transformer/fields.h"
#include "transformer/printable.h"

namespace transformer {

namespace {

using std::chrono::seconds;

// One word to the shell, whatever is in it.
std::string shell_word(const std::string& text) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:=,+-";
  if (!text.empty() && text.find_first_not_of(kPlain) == std::string::npos) return text;
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

// A line of sbatch's options: a comment to the shell, whatever is in it.
std::string directive(const std::string& option) {
  constexpr std::string_view kSpecial = "\\\"'#";
  std::string line = "#SBATCH --";
  for (const char c : option) {
    if (static_cast<unsigned char>(c) <= ' ' || c == 0x7f) {
      throw UserError("sbatch: --" + printable(option) +
                      ": expected an option without spaces and control characters");
    }
    if (kSpecial.find(c) != std::string_view::npos) line += '\\';
    line += c;
  }
  return line + "\n";
}

std::string name_of_option(const std::string& option) { return option.substr(0, option.find('=')); }

// How long before the time limit a run is told: time for its checkpoint.
seconds notice(seconds limit) {
  constexpr seconds kNotice{120};
  return limit == seconds(0) ? kNotice : std::clamp(limit / 10, seconds(1), kNotice);
}

bool asks_for_gpus(const std::vector<std::string>& options) {
  return std::ranges::any_of(options, [](const std::string& option) {
    const std::string name = name_of_option(option);
    return name == "gres" || name.starts_with("gpus");
  });
}

std::string directives(const SlurmJob& job) {
  const auto minutes = std::chrono::ceil<std::chrono::minutes>(job.run.limits.time).count();
  std::string array = "array=0-" + std::to_string(job.runs.size() - 1);
  if (job.slurm.most_at_once > 0) array += "%" + std::to_string(job.slurm.most_at_once);
  std::vector<std::string> options = {
      "job-name=" + job.name,
      array,
      "ntasks=1",
      "cpus-per-task=" + std::to_string(job.run.threads),
      "requeue",
      "signal=B:USR1@" + std::to_string(notice(job.run.limits.time).count()),
      "output=%x_%a.log",
      "open-mode=append"};
  if (minutes > 0) options.push_back("time=" + std::to_string(minutes));
  if (job.run.device.starts_with("cuda") && !asks_for_gpus(job.slurm.sbatch)) {
    options.emplace_back("gres=gpu:1");
  }
  if (!job.slurm.partition.empty()) options.push_back("partition=" + job.slurm.partition);
  options.insert(options.end(), job.slurm.sbatch.begin(), job.slurm.sbatch.end());
  std::string text;
  for (const auto& option : options) text += directive(option);
  return text;
}

std::vector<std::string> command_of(const SlurmJob& job) {
  std::vector<std::string> words = {job.run.program.string(), "task", job.run.folder.string()};
  for (auto& word : words) word = shell_word(word);
  for (const auto* variable : {"\"$row\"", "\"$seed\""}) words.emplace_back(variable);
  const auto add = [&](const char* option, const std::string& value) {
    words.insert(words.end(), {option, shell_word(value)});
  };
  add("--threads", std::to_string(job.run.threads));
  if (!job.run.device.empty()) add("--device", job.run.device);
  add("--retries", std::to_string(job.run.retries));
  if (const auto silence = job.run.limits.silence; silence > seconds(0)) {
    add("--stuck-after", std::to_string(silence.count()) + "s");
  }
  return words;
}

}  // namespace

std::string slurm_script(const SlurmJob& job) {
  std::string text = "#!/bin/sh\n" + directives(job) +
                     "# Each task is one run of the sweep. The shell becomes the program, which so "
                     "has Slurm's signals at\n# first hand: SIGUSR1 some time before the limit, "
                     "SIGTERM when it has to make way.\ncase $SLURM_ARRAY_TASK_ID in\n";
  for (size_t task = 0; task < job.runs.size(); ++task) {
    const auto& [row, seed] = job.runs[task];
    text += std::to_string(task) + ") row=" + shell_word(row) + " seed=" + std::to_string(seed) +
            " ;;\n";
  }
  text += "esac\ncd " + shell_word(job.working_folder.string()) + " || exit\nexec";
  for (const auto& word : command_of(job)) text += " " + word;
  return text + "\n";
}

std::vector<std::string> read_sbatch_options(const std::string& text, const std::string& where) {
  constexpr std::pair<const char*, const char*> kOurs[] = {
      {"array", "--jobs K bounds the runs at a time"},
      {"cpus-per-task", "use --threads"},
      {"job-name", "runs are found again by it"},
      {"no-requeue", "a run that has to make way goes on from the queue"},
      {"ntasks", "a run is one process"},
      {"output", "logs are in DIR/slurm and DIR/ROW/seed-S/log.txt"},
      {"partition", "use --partition"},
      {"time", "use --time-limit"}};
  constexpr std::array kNotInAScript = {"parsable", "wrap", "wait", "test-only"};
  std::vector<std::string> options;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (word.starts_with("--")) word.erase(0, 2);
    const std::string name = name_of_option(word);
    const bool is_name =
        !name.empty() && name[0] != '-' &&
        name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string::npos;
    if (!is_name ||
        std::ranges::any_of(kNotInAScript, [&](const char* each) { return name == each; })) {
      throw UserError(where + ": expected long options of sbatch such as account=nlp mem=8G; got " +
                      fields::shown_name(word));
    }
    for (const auto& [ours, instead] : kOurs) {
      if (name == ours) throw UserError(where + ": " + name + " is the sweep's own; " + instead);
    }
    options.push_back(word);
  }
  return options;
}

}  // namespace transformer
