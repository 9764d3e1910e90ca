#include "transformer/data/dataset.h"

#include <optional>

#include "transformer/data/file_lock.h"
#include "transformer/data/stopped.h"
#include "transformer/files.h"
#include "transformer/printable.h"

namespace transformer {
namespace fs = std::filesystem;

namespace {

enum class Side { source, target, both };

std::vector<fs::path> training_files(const DataConfig& data, Side side) {
  std::vector<fs::path> files;
  for (const auto& prefix : data.train) {
    const auto pair = parallel_files(prefix, data);
    if (side != Side::target) files.push_back(pair.source);
    if (side != Side::source) files.push_back(pair.target);
  }
  return files;
}

VocabularyOptions how_to_learn(const fs::path& file, const DataConfig& data, const Derived& V,
                               Side side, const std::string& key) {
  if (!V.stated()) {
    throw UserError("data.vocabulary: " + file.string() + " does not exist; state " + key +
                    " to have it learned from data.train" +
                    (data.make.empty() ? "" : ", or make it with: " + printable(data.make, 300)));
  }
  if (data.train.empty()) {
    throw UserError("data.train: expected text to learn " + file.string() + " from; got none");
  }
  return {.files = training_files(data, side), .V = V, .output = file};
}

// Learns the vocabulary unless it is there, or another process was quicker.
void ensure(const fs::path& file, const std::function<VocabularyOptions()>& how,
            const std::atomic<bool>* stop) {
  std::error_code error;
  if (fs::exists(file, error)) return;
  const auto options = how();
  if (file.has_parent_path()) make_folder(file.parent_path());
  heed(stop);
  const FileLock lock(file.string() + ".lock", stop);
  if (!fs::exists(file, error)) train_vocabulary(options);
  heed(stop);
}

Tokenizer open_vocabulary(const fs::path& file, const Derived& V, const std::string& key) {
  Tokenizer tokenizer(file);
  if (V.stated() && tokenizer.size() != int64_t{V}) {
    throw UserError(key + ": " + std::to_string(int64_t{V}) + " is not the vocabulary's size: " +
                    file.string() + " has " + std::to_string(tokenizer.size()) + " word-pieces");
  }
  return tokenizer;
}

// Of pairs that were found as they should be only how many are missing among them.
void tell_pairs(const Prepared& train, const std::function<void(const std::string&)>& say) {
  const Cleaned& cleaned = train.corpus.cleaned();
  std::string pairs = std::to_string(train.corpus.size()) + " pairs";
  if (cleaned.dropped() > 0) {
    pairs +=
        ", " + std::to_string(cleaned.dropped()) + " dropped (" + dropped_by_rule(cleaned) + ")";
  }
  if (!train.note.empty()) {
    say("binarised " + pairs + ": " + train.file.string() + " (" + train.note + ")");
  } else if (cleaned.dropped() > 0) {
    say("data.train: " + pairs);
  }
}

// Whether one vocabulary serves both languages.
bool is_shared(const Config& config) {
  const auto& data = config.data;
  if (data.vocabulary.empty()) {
    throw UserError("data.vocabulary: expected the path of a SentencePiece model; got none");
  }
  const bool shared = data.source_vocabulary.empty() || data.source_vocabulary == data.vocabulary;
  if (!shared && config.model.tie_embeddings && reads_source(config.model.family)) {
    throw UserError(
        "data.source_vocabulary: " + data.source_vocabulary +
        " gives the source pieces of its own, but model.tie_embeddings shares one matrix; "
        "set it to false");
  }
  return shared;
}

}  // namespace

std::vector<VocabularyOptions> vocabularies_of(const Config& config) {
  const auto& data = config.data;
  const bool shared = is_shared(config);
  std::vector<VocabularyOptions> all{how_to_learn(data.vocabulary, data, config.model.V,
                                                  shared ? Side::both : Side::target, "model.V")};
  if (!shared) {
    all.push_back(how_to_learn(data.source_vocabulary, data, config.model.source_V, Side::source,
                               "model.source_V"));
  }
  return all;
}

Vocabularies open_vocabularies(const Config& config, const std::atomic<bool>* stop) {
  const auto& data = config.data;
  const bool shared = is_shared(config);
  ensure(
      data.vocabulary, [&] { return vocabularies_of(config).front(); }, stop);
  const auto target = open_vocabulary(data.vocabulary, config.model.V, "model.V");
  if (shared) return {target, target};
  ensure(
      data.source_vocabulary, [&] { return vocabularies_of(config).back(); }, stop);
  return {open_vocabulary(data.source_vocabulary, config.model.source_V, "model.source_V"), target};
}

EvaluationSet open_evaluation(const std::string& prefix, const DataConfig& data,
                              const Vocabularies& vocabularies, const std::atomic<bool>* stop) {
  auto text = read_parallel(prefix, data);
  return {prepare_evaluation(prefix, data, vocabularies.source, vocabularies.target, stop).corpus,
          std::move(text), parallel_files(prefix, data)};
}

std::optional<Dataset> open_dataset(const Config& config,
                                    const std::function<void(const std::string&)>& say,
                                    const std::atomic<bool>* stop) {
  const auto& data = config.data;
  if (data.valid.empty()) {
    throw UserError("data.valid: expected the prefix of a corpus; got none");
  }
  parallel_files(data.valid, data);  // missing text is said before anything takes its time
  for (const auto& prefix : data.train) parallel_files(prefix, data);
  std::error_code error;
  if (say && !data.vocabulary.empty() && !fs::exists(data.vocabulary, error)) {
    say("learning word-pieces: " + data.vocabulary);
  }
  try {
    auto vocabularies = open_vocabularies(config, stop);
    auto train = prepare_training(data, vocabularies.source, vocabularies.target, stop);
    if (say) tell_pairs(train, say);
    auto valid = open_evaluation(data.valid, data, vocabularies, stop);
    return Dataset{std::move(vocabularies), std::move(train), std::move(valid)};
  } catch (const Stopped&) {
    return std::nullopt;
  }
}

}  // namespace transformer
