#include "experiments/check.h"

#include <algorithm>
#include <functional>
#include <optional>

#include "experiments/metrics.h"
#include "experiments/record.h"
#include "experiments/run_folder.h"
#include "experiments/slurm.h"
#include "experiments/sweep_folder.h"
#include "experiments/translations.h"
#include "transformer/decode/load.h"
#include "transformer/error.h"
#include "transformer/sealed_json.h"
#include "transformer/train/checkpoint.h"
#include "transformer/train/step_dump.h"

namespace transformer {
namespace fs = std::filesystem;

namespace {

class RunCheck {
 public:
  explicit RunCheck(const fs::path& run) : run_(run) {}

  std::vector<std::string> faults() {
    std::optional<Config> config;
    in_file("config.json", [&](const fs::path& file) { config = read_config(file); });
    for (const auto& folder : checkpoint_folders(run_ / "checkpoints")) {
      for (auto& damage : damage_of_checkpoint(folder)) faults_.push_back(std::move(damage));
    }
    newest_ = newest_checkpoint(run_ / "checkpoints", [](const std::string&) {});
    in_file("result.json", [&](const fs::path& file) { result_ = read_result(file); });
    if (config && result_)
      in_file("result.json", [&](const fs::path& file) { expect_of_run(*result_, *config, file); });
    in_file("model.safetensors", [&](const fs::path& file) { check_model(file); });
    in_file("diverged.safetensors", [&](const fs::path& file) { read_dump(file); });
    in_file("divergence.json", [&](const fs::path& file) { read_sealed(file); });
    if (result_ && !fs::exists(run_ / "model.safetensors")) {
      faults_.push_back((run_ / "model.safetensors").string() + ": is missing");
    }
    check_vocabulary();
    if (result_) add(damage_of_translations(run_));
    check_metrics();
    check_diagnostics();
    return faults_;
  }

 private:
  void in_file(const char* name, const std::function<void(const fs::path&)>& read) {
    const fs::path file = run_ / name;
    if (!fs::exists(file)) return;
    try {
      read(file);
    } catch (const UserError& error) {
      faults_.emplace_back(error.what());
    }
  }

  void add(const std::vector<std::string>& faults) {
    faults_.insert(faults_.end(), faults.begin(), faults.end());
  }

  void check_model(const fs::path& file) const {
    const auto there = read_state(file, ChecksumRule::required).checksum;
    const auto stated = model_of_figures(run_);
    if (result_ && !stated.empty() && there != stated) {
      throw UserError(file.string() + ": is sound, but not the one that made the run's figures");
    }
  }

  void check_vocabulary() {
    if (!newest_ && !result_) return;
    const auto& expected = newest_ ? newest_->vocabulary : result_->vocabulary_fingerprint;
    in_file(kKeptVocabulary, [&](const fs::path& file) {
      DataConfig data;
      data.vocabulary = file.string();
      const fs::path source = run_ / kKeptSourceVocabulary;
      if (fs::exists(source)) data.source_vocabulary = source.string();
      if (fingerprint_of_vocabularies(data) != expected) {
        throw UserError(file.string() + (fs::exists(source) ? " or " + source.string() : "") +
                        ": damaged: not the vocabulary that the model was trained with");
      }
    });
  }

  void check_metrics() {
    const fs::path file = run_ / "metrics.jsonl";
    const Metrics there = read_metrics(file);
    add(there.damage);
    if (!newest_) return;
    const auto& progress = newest_->progress;
    for (const auto& missing : missing_metrics(there.lines, newest_->config.training, progress.step,
                                               progress.validation_due)) {
      faults_.push_back(file.string() + ": " + missing);
    }
  }

  void check_diagnostics() {
    const fs::path file = run_ / "diagnostics.jsonl";
    const Metrics there = read_metrics(file);
    add(there.damage);
    if (!newest_) return;
    for (const auto& missing :
         missing_diagnostics(there.lines, newest_->config.training, newest_->progress.step)) {
      faults_.push_back(file.string() + ": " + missing);
    }
  }

  const fs::path& run_;
  std::vector<std::string> faults_;
  std::optional<Checkpoint> newest_;
  std::optional<Result> result_;
};

std::vector<fs::path> runs_of(const fs::path& sweep) {
  std::vector<fs::path> runs;
  for (const auto& row : fs::directory_iterator(sweep)) {
    if (!row.is_directory()) continue;
    for (const auto& run : fs::directory_iterator(row)) {
      const bool is_run = run.path().filename().string().starts_with("seed-");
      if (is_run && run.is_directory()) runs.push_back(run.path());
    }
  }
  std::ranges::sort(runs);
  return runs;
}

std::vector<std::string> faults_of_sweep(const fs::path& sweep) {
  std::vector<std::string> faults;
  const auto look = [&](const std::function<void()>& read) {
    try {
      read();
    } catch (const UserError& error) {
      faults.emplace_back(error.what());
    }
  };
  look([&] { read_sealed(sweep / "sweep.json", Seal::where_there_is_one); });
  look([&] {
    for (const auto& run : read_sweep_results(sweep).results) {
      if (!run.is_lost) continue;
      faults.push_back((run_folder_in(sweep, run.id, run.seed) / "result.json").string() +
                       ": is missing; results.json has its figures");
    }
  });
  for (const auto& ledger : slurm_ledgers_in(sweep)) look([&] { read_sealed(ledger); });
  for (const auto& run : runs_of(sweep)) {
    for (auto& fault : RunCheck(run).faults()) faults.push_back(std::move(fault));
  }
  return faults;
}

}  // namespace

std::vector<std::string> faults_of(const fs::path& folder) {
  if (fs::exists(folder / "sweep.json") || fs::exists(folder / "results.json")) {
    return faults_of_sweep(folder);
  }
  if (!fs::exists(folder / "config.json") && !fs::exists(folder / "checkpoints")) {
    throw UserError(folder.string() + ": expected the folder of a run or a sweep");
  }
  return RunCheck(folder).faults();
}

}  // namespace transformer
