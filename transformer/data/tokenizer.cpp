#include "transformer/data/tokenizer.h"

#include <sentencepiece_processor.h>
#include <sentencepiece_trainer.h>

#include <stdexcept>
#include <unordered_map>

#include "transformer/data/lines.h"
#include "transformer/data/vocabulary_fault.h"
#include "transformer/error.h"
#include "transformer/fields.h"
#include "transformer/files.h"
#include "transformer/fingerprint.h"
#include "transformer/utf8.h"

namespace transformer {
namespace fs = std::filesystem;

struct Tokenizer::Model {
  sentencepiece::SentencePieceProcessor processor;
  std::string fingerprint;
};

std::optional<std::string> too_many_bytes(std::string_view text) {
  if (text.size() <= kLongestText) return std::nullopt;
  return std::to_string(text.size()) + " bytes; a line may have " + std::to_string(kLongestText);
}

namespace {

std::string fault_of_loading(sentencepiece::SentencePieceProcessor& processor,
                             const std::string& bytes) {
  try {
    return processor.LoadFromSerializedProto(bytes).ok() ? "" : kNoModel;
  } catch (const std::exception&) {  // of the trie of its pieces
    return kNoModel;
  }
}

}  // namespace

Tokenizer::Tokenizer(const fs::path& path) {
  const std::string bytes = read_file(path);
  auto model = std::make_shared<Model>();
  model->fingerprint = transformer::fingerprint(bytes);
  auto& processor = model->processor;
  std::string fault = fault_of_vocabulary(bytes);  // first: a model may test itself when loaded
  if (fault.empty()) fault = fault_of_loading(processor, bytes);
  if (!fault.empty()) {
    throw UserError(path.string() + ": expected a SentencePiece model; " + fault);
  }
  const std::array ids{processor.pad_id(), processor.unk_id(), processor.bos_id(),
                       processor.eos_id()};
  if (ids != std::array<int, 4>{kPad, kUnk, kBos, kEos}) {
    std::string got;
    for (const int id : ids) got += (got.empty() ? "" : ", ") + std::to_string(id);
    throw UserError(path.string() + ": expected pad, unk, bos, eos at ids 0, 1, 2, 3; got " + got +
                    "; make it with: transformer data vocabulary");
  }
  model_ = std::move(model);
}

std::vector<int32_t> Tokenizer::encode(std::string_view line) const {
  std::vector<int> ids;
  const auto status = model_->processor.Encode({line.data(), line.size()}, &ids);
  if (!status.ok()) throw std::runtime_error("word-pieces: " + status.ToString());
  return ids;
}

std::string Tokenizer::decode(const std::vector<int32_t>& pieces) const {
  std::vector<int> ids;
  for (const int32_t id : pieces) {
    if (id < 0 || id >= size()) {
      throw std::out_of_range("word-piece " + std::to_string(id) + " is not in 0.." +
                              std::to_string(size() - 1));
    }
    if (id > kEos) ids.push_back(id);
  }
  std::string text;
  const auto status = model_->processor.Decode(ids, &text);
  if (!status.ok()) throw std::runtime_error("word-pieces: " + status.ToString());
  return text;
}

std::string Tokenizer::piece(int32_t id) const {
  if (id < 0 || id >= size()) {
    throw std::out_of_range("word-piece " + std::to_string(id) + " is not in 0.." +
                            std::to_string(size() - 1));
  }
  return model_->processor.IdToPiece(id);
}

int64_t Tokenizer::size() const { return model_->processor.GetPieceSize(); }

const std::string& Tokenizer::fingerprint() const { return model_->fingerprint; }

namespace {

// Hands SentencePiece the lines to learn from: all, or so many evenly spread.
class Sample : public sentencepiece::SentenceIterator {
 public:
  Sample(const std::vector<fs::path>& files, int64_t lines, int64_t most)
      : files_(files), lines_(lines), most_(most) {
    Next();
  }
  bool done() const override { return done_; }
  const std::string& value() const override { return line_; }
  sentencepiece::util::Status status() const override { return {}; }
  void Next() override {
    do {
      done_ = !read();
    } while (!done_ && (skipped() || line_.empty() || !is_utf8(line_)));
  }

 private:
  bool read() {
    while (true) {
      if (reader_ && reader_->next(line_)) {
        ++index_;
        return true;
      }
      if (file_ == files_.size()) return false;
      reader_ = std::make_unique<LineReader>(files_[file_++]);
    }
  }
  // Of n lines, `most` are taken: those where i * most / n steps up.
  bool skipped() const {
    if (lines_ <= most_) return false;
    const auto share = [&](int64_t i) {
      return static_cast<int64_t>(static_cast<double>(i) * static_cast<double>(most_) /
                                  static_cast<double>(lines_));
    };
    return share(index_) == share(index_ - 1);
  }

  std::vector<fs::path> files_;
  int64_t lines_;
  int64_t most_;
  size_t file_ = 0;
  int64_t index_ = 0;
  std::unique_ptr<LineReader> reader_;
  std::string line_;
  bool done_ = false;
};

// The model's bytes; empty where SentencePiece refuses.
std::string learn(const VocabularyOptions& options, int64_t lines,
                  const std::unordered_map<std::string, std::string>& more) {
  std::unordered_map<std::string, std::string> settings{
      {"model_type", name_of(options.kind)},
      {"vocab_size", std::to_string(options.V)},
      {"pad_id", std::to_string(kPad)},
      {"unk_id", std::to_string(kUnk)},
      {"bos_id", std::to_string(kBos)},
      {"eos_id", std::to_string(kEos)},
      {"pad_piece", "<pad>"},
      {"byte_fallback", "true"},
      {"character_coverage", "0.9999"},
      {"normalization_rule_name", "identity"},
      {"num_threads", "8"},  // its sums depend on this number, so it is not the machine's
      {"minloglevel", "3"},
  };
  for (const auto& [key, value] : more) settings[key] = value;
  Sample sample(options.files, lines, options.most_lines);
  std::string model;
  const auto status = sentencepiece::SentencePieceTrainer::Train(settings, &sample, &model);
  return status.ok() ? model : "";
}

int64_t pieces_in(const std::string& model) {
  sentencepiece::SentencePieceProcessor processor;
  return processor.LoadFromSerializedProto(model).ok() ? processor.GetPieceSize() : 0;
}

[[noreturn]] void refuse(const VocabularyOptions& options, int64_t lines) {
  const std::string where = "vocabulary of " + std::to_string(options.V) + " word-pieces from " +
                            options.files.front().string() +
                            (options.files.size() > 1 ? ", ..." : "");
  auto free = options;
  const int64_t least = pieces_in(
      learn(free, lines,
            {{"model_type", "char"}, {"hard_vocab_limit", "false"}, {"vocab_size", "1000000"}}));
  if (least > 0 && options.V < least) {
    throw UserError(where + ": expected V of at least " + std::to_string(least) +
                    ": 4 special pieces, 256 bytes and the text's characters");
  }
  const int64_t most = pieces_in(learn(free, lines, {{"hard_vocab_limit", "false"}}));
  if (most > 0 && options.V > most) {
    throw UserError(where + ": the text is too small: the largest V possible is " +
                    std::to_string(most));
  }
  throw UserError(where + ": SentencePiece cannot learn from this text");
}

}  // namespace

void train_vocabulary(const VocabularyOptions& options) {
  int64_t lines = 0;
  for (const auto& file : options.files) lines += scan_text(file).lines;
  if (Sample(options.files, lines, options.most_lines).done()) {
    throw UserError((options.files.empty() ? "vocabulary" : options.files.front().string()) +
                    ": expected text to learn word-pieces from; there is none");
  }
  const std::string model = learn(options, lines, {});
  if (model.empty()) refuse(options, lines);
  if (options.output.has_parent_path()) make_folder(options.output.parent_path());
  write_file(options.output, model);
}

}  // namespace transformer
