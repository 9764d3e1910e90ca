#include "experiments/metrics.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <set>

#include "transformer/error.h"
#include "transformer/files.h"
#include "transformer/sealed_json.h"

namespace transformer {

namespace {

bool has_step(const Json& json) {
  return json.is_object() && json.contains("step") && json["step"].is_number_integer();
}

// As earlier versions wrote it: numbers alone, and of a diagnosis the list of its sublayers.
bool is_unsealed(const Json& json) {
  if (!has_step(json)) return false;
  for (const auto& [key, value] : json.items()) {
    if (!value.is_number() && !(key == "sublayers" && value.is_array())) return false;
  }
  return true;
}

bool has_checksum(const Json& json) { return json.is_object() && json.contains("checksum"); }

// Throws Damaged.
Json sound_line(const std::string& text, const Json& json) {
  Json content = unsealed(json, "");
  if (text_of(json) != text || !has_step(content)) throw Damaged("");
  return content;
}

// The multiples of `every` up to `last` that are not there; none are due where `every` is 0.
std::vector<int64_t> missing_steps(const std::set<int64_t>& there, int64_t every, int64_t last) {
  std::vector<int64_t> steps;
  for (int64_t at = every; every > 0 && at <= last; at += every) {
    if (!there.contains(at)) steps.push_back(at);
  }
  return steps;
}

std::string listed_steps(const std::vector<int64_t>& steps) {
  constexpr size_t kShown = 5;
  std::string text;
  for (size_t i = 0; i < std::min(kShown, steps.size()); ++i) {
    text += (i == 0 ? "" : ", ") + std::to_string(steps[i]);
  }
  return text +
         (steps.size() > kShown ? ", ... (" + std::to_string(steps.size()) + " in all)" : "");
}

}  // namespace

Metrics read_metrics(const std::filesystem::path& path) {
  Metrics metrics;
  std::vector<std::pair<std::string, Json>> read;
  std::ifstream in(path, std::ios::binary);
  bool any_sealed = false;
  bool is_cut = false;
  for (std::string text; std::getline(in, text);) {
    is_cut = in.eof();  // without its end of line
    Json json = Json::parse(text, nullptr, false);
    any_sealed = any_sealed || has_checksum(json);
    read.emplace_back(std::move(text), std::move(json));
  }
  if (in.bad()) throw Failure(path.string() + ": cannot read");
  for (size_t i = 0; i < read.size(); ++i) {
    auto& [text, json] = read[i];
    try {
      if (any_sealed || !is_unsealed(json)) json = sound_line(text, json);
      metrics.lines.push_back(std::move(json));
    } catch (const Damaged&) {
      if (is_cut && i + 1 == read.size()) continue;
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
  const auto tell = [&](const std::vector<int64_t>& steps, const char* what) {
    if (!steps.empty()) words.push_back(what + listed_steps(steps));
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
  if (steps.empty()) return {};
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
