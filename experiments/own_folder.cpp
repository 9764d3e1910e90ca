#include "experiments/own_folder.h"

#include <algorithm>

#include "experiments/record.h"
#include "transformer/decode/load.h"
#include "transformer/error.h"
#include "transformer/folder_lock.h"
#include "transformer/sealed_json.h"
#include "transformer/train/checkpoint.h"

namespace transformer {
namespace fs = std::filesystem;

namespace {

bool has_sound_progress(const fs::path& checkpoint) {
  const fs::path file = checkpoint / "progress.json";
  return can_be_read([&] { read_sealed(file); });
}

bool is_in_the_way(const fs::path& file) {
  std::error_code none;
  const auto type = fs::symlink_status(file, none).type();
  if (type == fs::file_type::not_found || type == fs::file_type::none) return false;
  if (file.filename() == "lock") return lock_file_in(file.parent_path()) != LockFile::empty;
  return type != fs::file_type::directory || !fs::is_empty(file, none);
}

bool is_same_file(const fs::path& one, const fs::path& other) {
  std::error_code none;
  if (fs::equivalent(one, other, none)) return true;
  const auto place = [&](const fs::path& path) {  // also of what is not there yet
    return fs::weakly_canonical(fs::absolute(path), none);
  };
  return !place(one).empty() && place(one) == place(other);
}

struct Input {
  const char* key;
  std::string DataConfig::*file;
  const char* copy;  // the name that the run gives its copy
};
constexpr Input kVocabularies[] = {
    {"data.vocabulary", &DataConfig::vocabulary, kKeptVocabulary},
    {"data.source_vocabulary", &DataConfig::source_vocabulary, kKeptSourceVocabulary}};

// A vocabulary may lie in the run's folder: where its copy would, for then none is made, or under a
// name that is not the run's.
void expect_vocabularies_kept(const fs::path& folder, const DataConfig& data) {
  for (const auto& input : kVocabularies) {
    const std::string& path = data.*input.file;
    if (path.empty()) continue;
    for (const auto& name : run_files()) {
      if (name == input.copy || !is_same_file(path, folder / name)) continue;
      throw UserError(std::string(input.key) + ": " + path +
                      ": the run would write over it; give it another name");
    }
  }
  // Before its first checkpoint a run may be begun again with another vocabulary.
  DataConfig before;
  if (!can_be_read([&] { before = read_config(folder / "config.json").data; })) return;
  for (const auto& input : kVocabularies) {
    const std::string& old = before.*input.file;
    const fs::path copy = folder / input.copy;
    if (old.empty() || !fs::exists(copy) || !is_same_file(old, copy)) continue;
    const std::string& now = data.*input.file;
    if (now.empty() || is_same_file(now, copy)) continue;
    throw UserError(copy.string() + ": is the " + input.key + " that " + folder.string() +
                    " was begun with, and training with another would write over it; take another "
                    "--out folder, or move the file away");
  }
}

// A folder of text is no place for a run, though the vocabulary lies there already.
void expect_no_corpus(const fs::path& folder, const DataConfig& data) {
  auto prefixes = data.train;
  prefixes.push_back(data.valid);
  for (const auto& prefix : prefixes) {
    const fs::path text = prefix + "." + data.source_language;
    if (!fs::exists(text) || !is_same_file(text.parent_path() / ".", folder / ".")) continue;
    throw UserError(folder.string() + ": is where the text " + text.string() +
                    " lies; take another --out folder");
  }
}

}  // namespace

const std::vector<std::string>& run_files() {
  static const std::vector<std::string> files = {"config.json",          "metrics.jsonl",
                                                 "diagnostics.jsonl",    "checkpoints",
                                                 "diverged.safetensors", "valid.checksums",
                                                 "model.safetensors",    "result.json",
                                                 "divergence.json",      "valid.translations",
                                                 "valid.references",     kKeptVocabulary,
                                                 kKeptSourceVocabulary,  "lock"};
  return files;
}

bool is_run(const fs::path& folder) {
  if (held_by(folder) == "sweep") return false;
  const LockFile lock = lock_file_in(folder);
  if (lock == LockFile::ours) return true;
  if (can_be_read([&] { read_result(folder / "result.json"); })) return true;
  if (std::ranges::any_of(checkpoint_folders(folder / "checkpoints"), has_sound_progress)) {
    return true;
  }
  return lock == LockFile::of_earlier_version &&
         can_be_read([&] { read_config(folder / "config.json"); });
}

void expect_own_run(const fs::path& folder, const DataConfig& data) {
  if (held_by(folder) == "sweep" || (!is_run(folder) && fs::exists(folder / "sweep.json"))) {
    throw UserError(folder.string() + ": holds a sweep; take another --out folder for the run");
  }
  expect_no_corpus(folder, data);
  expect_vocabularies_kept(folder, data);
  if (is_run(folder)) return;
  auto files = run_files();
  for (const auto& input : kVocabularies) {
    const std::string& path = data.*input.file;
    if (!path.empty() && is_same_file(path, folder / input.copy)) std::erase(files, input.copy);
  }
  expect_none_of(files, folder, "run");
}

bool can_be_read(const std::function<void()>& read) {
  try {
    read();
    return true;
  } catch (const UserError&) {
    return false;
  }
}

void expect_none_of(const std::vector<std::string>& files, const fs::path& folder,
                    const std::string& kind) {
  for (const auto& name : files) {
    if (!is_in_the_way(folder / name)) continue;
    throw UserError((folder / name).string() + ": is there, but " + folder.string() + " holds no " +
                    kind + ", and a " + kind +
                    " would write over it; take another --out folder, or move it away");
  }
}

}  // namespace transformer
