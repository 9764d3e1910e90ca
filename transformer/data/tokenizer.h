#pragma once

// Word-pieces. The only place that knows SentencePiece.

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace transformer {

// The pieces with a meaning of their own; every vocabulary has them at these ids.
constexpr int32_t kPad = 0;
constexpr int32_t kUnk = 1;
constexpr int32_t kBos = 2;
constexpr int32_t kEos = 3;

// Bytes of a text that is taken apart in one piece: SentencePiece needs some hundred times as much
// memory for it. Whoever reads text from outside asks first.
constexpr size_t kLongestText = size_t{1} << 20;
// "1234567 bytes; a line may have 1048576" of a text that has more; else nothing.
std::optional<std::string> too_many_bytes(std::string_view text);

// A SentencePiece model. Cheap to copy; all of it may be called from several threads.
class Tokenizer {
 public:
  // Throws UserError where the file is missing, is no SentencePiece model, or has the special
  // pieces at other ids.
  explicit Tokenizer(const std::filesystem::path& model);

  std::vector<int32_t> encode(std::string_view line) const;  // the pieces, without end-of-sentence
  // Special pieces are left out. Always UTF-8, whatever the pieces. Throws std::out_of_range.
  std::string decode(const std::vector<int32_t>& pieces) const;
  std::string piece(int32_t id) const;     // throws std::out_of_range
  int64_t size() const;                    // V
  const std::string& fingerprint() const;  // of the model file's bytes

 private:
  struct Model;
  std::shared_ptr<const Model> model_;
};

enum class VocabularyKind { bpe, unigram };
constexpr auto names(VocabularyKind) { return std::array{"bpe", "unigram"}; }

struct VocabularyOptions {
  std::vector<std::filesystem::path> files;  // text, a sentence a line
  int64_t V =
      0;  // word-pieces in all: 4 special ones, 256 bytes, the characters, and what is learned
  VocabularyKind kind = VocabularyKind::bpe;
  int64_t most_lines = 4'000'000;  // of longer text so many lines are read, evenly spread
  std::filesystem::path output;
};

// Learns word-pieces and writes a SentencePiece model, whole or not at all. Characters too rare to
// have a piece are spelled in bytes, so that every text can be written. The same files give the
// same bytes, whatever the number of cores. Text is taken as it stands, but for spaces in a row,
// which become one. Lines that are not UTF-8 are left out. Throws UserError where V does not fit
// the text.
void train_vocabulary(const VocabularyOptions& options);

}  // namespace transformer
