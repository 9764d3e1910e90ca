#include "transformer/data/prepare.h"

#include <chrono>
#include <optional>

#include "transformer/data/binarise.h"
#include "transformer/data/file_lock.h"
#include "transformer/data/lines.h"
#include "transformer/data/parallel_text.h"
#include "transformer/data/stopped.h"
#include "transformer/fields.h"
#include "transformer/files.h"
#include "transformer/fingerprint.h"

namespace transformer {
namespace fs = std::filesystem;

namespace {

// What a binarised file was made from, kept inside it: it is found again where this still holds.
struct Recipe {
  bool clean = true;
  int64_t max_length = 0;
  double max_length_ratio = 0;
  std::string source_vocabulary;  // fingerprints
  std::string target_vocabulary;
  std::vector<std::string> files;
  std::vector<int64_t> sizes;
  std::vector<int64_t> modified;  // 0 where the time stamp was too young to be trusted
  std::vector<std::string> fingerprints;

  static void visit(auto& self, auto&& field) {
    field("clean", self.clean);
    field("max_length", self.max_length);
    field("max_length_ratio", self.max_length_ratio);
    field("source_vocabulary", self.source_vocabulary);
    field("target_vocabulary", self.target_vocabulary);
    field("files", self.files);
    field("sizes", self.sizes);
    field("modified", self.modified);
    field("fingerprints", self.fingerprints);
  }
};

// One corpus to prepare: where its text lies, and by which rules.
struct Task {
  std::string where;  // the config key, for messages
  std::vector<ParallelFiles> files;
  Cleaning cleaning;
  const DataConfig& data;
  const Tokenizer& source;
  const Tokenizer& target;

  Recipe recipe() const {
    Recipe recipe;
    recipe.clean = cleaning == Cleaning::clean;
    if (recipe.clean) {
      recipe.max_length = data.max_length;
      recipe.max_length_ratio = data.max_length_ratio;
    }
    recipe.source_vocabulary = source.fingerprint();
    recipe.target_vocabulary = target.fingerprint();
    for (const auto& pair : files) {
      for (const auto& file : {pair.source, pair.target}) {
        const auto stamp = stamp_of(file);
        recipe.files.push_back(file.string());
        recipe.sizes.push_back(stamp.size);
        recipe.modified.push_back(stamp.modified);
      }
    }
    return recipe;
  }

  // The text, the vocabulary files and the rules have a name of their own, so that runs that differ
  // in them live side by side; a new version of the same text takes the old one's place.
  fs::path output() const {
    const Recipe now = recipe();
    std::string key = std::to_string(now.clean) + text_of(now.max_length) + "/" +
                      text_of(now.max_length_ratio) + "/" + data.vocabulary + "\n" +
                      data.source_vocabulary;
    for (const auto& file : now.files) key += "\n" + file;
    const std::string name = files.front().source.stem().string() + "-" + fingerprint(key);
    return fs::path(data.vocabulary).parent_path() / "binarised" / (name + ".pairs");
  }
};

// Why the file is not what the recipe asks for; empty where it is. Text is known by size and time
// of change, and by its content where only the time differs.
std::string stale(const Recipe& stored, const Recipe& now) {
  if (stored.source_vocabulary != now.source_vocabulary ||
      stored.target_vocabulary != now.target_vocabulary) {
    return "the vocabulary changed";
  }
  if (stored.clean != now.clean || stored.max_length != now.max_length ||
      stored.max_length_ratio != now.max_length_ratio) {
    return "the cleaning rules changed";
  }
  const size_t files = now.files.size();
  if (stored.files.size() != files || stored.modified.size() != files ||
      stored.fingerprints.size() != files || stored.sizes != now.sizes) {
    return "the text changed";
  }
  for (size_t i = 0; i < files; ++i) {
    const bool same_time = stored.modified[i] != 0 && stored.modified[i] == now.modified[i] &&
                           stored.files[i] == now.files[i];
    if (!same_time && scan_text(now.files[i]).fingerprint != stored.fingerprints[i]) {
      return "the text changed: " + now.files[i];
    }
  }
  return "";
}

// The corpus where the file is there, whole and fresh; else `note` says what is the matter.
std::optional<Corpus> find(const fs::path& file, const Task& task, std::string& note) {
  std::error_code error;
  if (!fs::exists(file, error)) {
    note = "made for the first time";
    return std::nullopt;
  }
  try {
    auto corpus = Corpus::open(file);
    note = stale(from_json<Recipe>(parse_json(corpus.recipe(), file.string())), task.recipe());
    if (note.empty()) return corpus;
  } catch (const UserError& damage) {
    note = damage.what();
  }
  note = "made again: " + note;
  return std::nullopt;
}

[[noreturn]] void refuse_empty(const Task& task, const Cleaned& cleaned) {
  throw UserError(task.where + ": expected at least one pair of sentences in " +
                  task.files.front().source.string() + (task.files.size() > 1 ? ", ..." : "") +
                  (cleaned.dropped() == 0 ? "; there is none"
                                          : "; got none of " + std::to_string(cleaned.dropped()) +
                                                " (" + dropped_by_rule(cleaned) + ")"));
}

void make(const fs::path& file, const Task& task, const std::atomic<bool>* stop) {
  using namespace std::chrono_literals;
  Recipe recipe = task.recipe();
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto young = std::chrono::duration_cast<std::chrono::nanoseconds>(now - 2s).count();
  for (size_t i = 0; i < task.files.size(); ++i) {
    heed(stop);
    const auto source = scan_text(task.files[i].source);
    const auto target = scan_text(task.files[i].target);
    check_same_lines(task.files[i], source.lines, target.lines);
    recipe.fingerprints.push_back(source.fingerprint);
    recipe.fingerprints.push_back(target.fingerprint);
  }
  // Within the clock's step a file may change again and keep its time: then only its content tells.
  for (auto& modified : recipe.modified) modified = modified < young ? modified : 0;
  write_file(file, [&](std::ostream& out) {
    const auto cleaned = binarise(task.files, task.cleaning, task.data, task.source, task.target,
                                  text_of(to_json(recipe)), out, stop);
    if (cleaned.kept == 0) refuse_empty(task, cleaned);
  });
}

Prepared prepare(const Task& task, const std::atomic<bool>* stop) {
  if (task.data.vocabulary.empty()) {
    throw UserError("data.vocabulary: expected the path of a SentencePiece model; got none");
  }
  const fs::path file = task.output();
  std::string note;
  if (auto corpus = find(file, task, note)) return {*corpus, file, ""};
  make_folder(file.parent_path());
  const FileLock lock(file.string() + ".lock", stop);
  // Another process may have made it meanwhile.
  if (auto corpus = find(file, task, note)) return {*corpus, file, ""};
  make(file, task, stop);
  return {Corpus::open(file), file, note};
}

std::vector<ParallelFiles> training_files(const DataConfig& data) {
  std::vector<ParallelFiles> files;
  for (const auto& prefix : data.train) files.push_back(parallel_files(prefix, data));
  return files;
}

}  // namespace

Prepared prepare_training(const DataConfig& data, const Tokenizer& source, const Tokenizer& target,
                          const std::atomic<bool>* stop) {
  if (data.train.empty()) {
    throw UserError("data.train: expected the prefix of a corpus, or several; got none");
  }
  return prepare({"data.train", training_files(data), Cleaning::clean, data, source, target}, stop);
}

std::string place_of_training_pair(const DataConfig& data, const Tokenizer& source,
                                   const Tokenizer& target, int64_t pair) {
  return place_of_pair(pair, training_files(data), Cleaning::clean, data, source, target);
}

Prepared prepare_evaluation(const std::string& prefix, const DataConfig& data,
                            const Tokenizer& source, const Tokenizer& target,
                            const std::atomic<bool>* stop) {
  return prepare({prefix, {parallel_files(prefix, data)}, Cleaning::keep, data, source, target},
                 stop);
}

}  // namespace transformer
