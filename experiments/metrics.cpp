#include "experiments/metrics.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <set>

#include "experiments/json_lines.h"
#include "transformer/error.h"
#include "transformer/files.h"
#include "transformer/sealed_json.h"

namespace transformer {

namespace {

// As earlier versions wrote it: numbers alone, and of a diagnosis the list of its sublayers.
bool is_unsealed(const JsonLine& line) {
  if (!step_of(line)) return false;
  for (const auto& [key, value] : line.json->items()) {
    if (!value.is_number() && !(key == "sublayers" && value.is_array())) return false;
  }
  return true;
}

bool has_checksum(const JsonLine& line) {
  return line.json && line.json->is_object() && line.json->contains("checksum");
}

// Throws Damaged.
Json sound_line(const JsonLine& line) {
  Json content = unsealed(line.json.value_or(Json()), "");
  if (text_of(*line.json) != line.text || !step_of(line)) throw Damaged("");
  return content;
}

// Steps that a file should have and has not.
struct Steps {
  std::vector<int64_t> first;  // as many as are shown
  int64_t count = 0;
};

// The multiples of `every` up to `last` that are not there; none are due where `every` is 0.
Steps missing_steps(const std::set<int64_t>& there, int64_t every, int64_t last) {
  constexpr size_t kShown = 5;
  if (every <= 0) return {};
  Steps missing;
  missing.count = last / every;
  for (const int64_t step : there) {
    if (step > 0 && step <= last && step % every == 0) --missing.count;
  }
  const int64_t shown = std::min<int64_t>(missing.count, kShown);
  for (int64_t at = every; std::ssize(missing.first) < shown; at += every) {
    if (!there.contains(at)) missing.first.push_back(at);
  }
  return missing;
}

std::string listed_steps(const Steps& steps) {
  std::string text;
  for (const int64_t step : steps.first) text += (text.empty() ? "" : ", ") + std::to_string(step);
  return text + (steps.count > std::ssize(steps.first)
                     ? ", ... (" + std::to_string(steps.count) + " in all)"
                     : "");
}

}  // namespace

Metrics read_metrics(const std::filesystem::path& path) {
  Metrics metrics;
  const auto lines = read_json_lines(path);
  const bool any_sealed = std::ranges::any_of(lines, has_checksum);
  for (size_t i = 0; i < lines.size(); ++i) {
    const JsonLine& line = lines[i];
    try {
      const bool is_old = !any_sealed && is_unsealed(line);
      metrics.lines.push_back(is_old ? *line.json : sound_line(line));
    } catch (const Damaged&) {
      if (line.is_cut) continue;
      metrics.damage.push_back(path.string() + ": line " + std::to_string(i + 1) +
                               ": damaged: it is not what was written");
    }
  }
  return metrics;
}

std::vector<std::string> missing_metrics(const std::vector<Json>& lines,
                                         const TrainingConfig& training, int64_t step,
                                         bool validation_due) {
  std::set<int64_t> logged, validated;
  for (const auto& line : lines) {
    (line.contains("loss") ? logged : validated).insert(line["step"].get<int64_t>());
  }
  std::vector<std::string> words;
  const auto tell = [&](const Steps& steps, const char* what) {
    if (steps.count > 0) words.push_back(what + listed_steps(steps));
  };
  tell(missing_steps(logged, training.log_every, step), "the lines of these steps are lost: ");
  tell(missing_steps(validated, training.validate_every, validation_due ? step - 1 : step),
       "the validation lines of these steps are lost: ");
  return words;
}

std::vector<std::string> missing_diagnostics(const std::vector<Json>& lines,
                                             const TrainingConfig& training, int64_t step) {
  std::set<int64_t> diagnosed;
  for (const auto& line : lines) diagnosed.insert(line["step"].get<int64_t>());
  const auto steps = missing_steps(diagnosed, training.diagnostics_every, step);
  if (steps.count <= 0) return {};
  return {"the diagnostics of these steps are lost: " + listed_steps(steps)};
}

MetricsFile::MetricsFile(std::filesystem::path path, const std::vector<Json>& kept, Tell tell)
    : path_(std::move(path)), tell_(std::move(tell)) {
  for (const auto& line : kept) written_ += text_of(sealed(line)) + "\n";
  open();
}

MetricsFile::~MetricsFile() { close(descriptor_); }

void MetricsFile::open() {
  write_file(path_, written_);
  if (descriptor_ >= 0) close(descriptor_);
  descriptor_ = ::open(path_.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  if (descriptor_ < 0) throw Failure(path_.string() + ": cannot write: " + std::strerror(errno));
}

bool MetricsFile::is_in_place() const {
  struct stat held {};
  struct stat there {};
  return fstat(descriptor_, &held) == 0 && stat(path_.c_str(), &there) == 0 &&
         held.st_ino == there.st_ino && held.st_dev == there.st_dev;
}

void MetricsFile::append(const Json& line) {
  const std::string text = text_of(sealed(line)) + "\n";
  written_ += text;
  if (!is_in_place()) {
    open();
    if (tell_) tell_(path_.string() + ": was removed meanwhile; written again, nothing is lost");
    return;
  }
  const ssize_t count = write(descriptor_, text.data(), text.size());
  const int error = count < 0 ? errno : ENOSPC;
  if (count != std::ssize(text)) {
    throw Failure(path_.string() + ": cannot write: " + std::strerror(error));
  }
  if (fdatasync(descriptor_) != 0) {
    throw Failure(path_.string() + ": cannot write to disk: " + std::strerror(errno));
  }
}

}  // namespace transformer
