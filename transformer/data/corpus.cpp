#include "transformer/data/corpus.h"

#include <algorithm>
#include <cstring>

#include "transformer/data/corpus_file.h"
#include "transformer/data/tokenizer.h"
#include "transformer/error.h"

namespace transformer {
namespace fs = std::filesystem;

// Pieces are int32, offsets uint64, as this machine has them; a file from the other kind of machine
// fails the test of its first bytes.
static_assert(sizeof(int32_t) == 4 && sizeof(CorpusHeader) % 8 == 0);

namespace {

[[noreturn]] void refuse(const fs::path& path, const std::string& problem) {
  throw UserError(path.string() + ": expected a binarised corpus; " + problem);
}

CorpusHeader read_header(const fs::path& path, const MappedFile& file) {
  CorpusHeader header;
  if (file.size() < sizeof header) refuse(path, "the file is cut short");
  std::memcpy(&header, file.data(), sizeof header);
  if (header.magic != CorpusHeader{}.magic) refuse(path, "the file is something else");
  if (header.version != CorpusHeader{}.version) {
    refuse(path, "its version " + std::to_string(header.version) + " is not " +
                     std::to_string(CorpusHeader{}.version));
  }
  if (header.checksum != header.own_checksum()) refuse(path, "the header is damaged");
  // Each size is held against the file's own before any arithmetic on it.
  const uint64_t most = file.size();
  if (header.pairs > most || header.pieces > most || header.recipe_bytes > most ||
      header.starts_at() + header.starts_bytes() + header.recipe_bytes != most) {
    refuse(path,
           "the sizes in its header do not fit the file's " + std::to_string(most) + " bytes");
  }
  // A line of text for each pair that was kept or dropped, one byte at least: no sum can overflow.
  constexpr uint64_t kMostLines = uint64_t{1} << 48;
  if (std::ranges::any_of(header.cleaned, [](uint64_t count) { return count > kMostLines; })) {
    refuse(path, "the counts of pairs in its header are too large");
  }
  if (header.source_V > INT32_MAX || header.target_V > INT32_MAX) {
    refuse(path, "the vocabulary in its header is too large");
  }
  return header;
}

}  // namespace

std::string dropped_by_rule(const Cleaned& cleaned) {
  std::string counts;
  Cleaned::visit(cleaned, [&](const std::string& rule, int64_t count) {
    if (rule == "kept" || count == 0) return;
    counts += (counts.empty() ? "" : ", ") + std::to_string(count) + " " + rule;
  });
  return counts;
}

class Corpus::File {
 public:
  explicit File(const fs::path& path)
      : mapped(path), header(read_header(path, mapped)), cleaned(header.counts()) {
    if (checksum_of_body() != header.body_checksum) refuse(path, "its checksum does not fit");
    const char* body = mapped.data() + sizeof(CorpusHeader);
    pieces = reinterpret_cast<const int32_t*>(body);
    starts = reinterpret_cast<const uint64_t*>(mapped.data() + header.starts_at());
    recipe.assign(mapped.data() + header.starts_at() + header.starts_bytes(), header.recipe_bytes);
    check_sentences(path);
    fingerprint = hexadecimal(header.pairs_checksum);
  }

  const MappedFile mapped;
  const CorpusHeader header;
  const Cleaned cleaned;
  std::string recipe;
  std::string fingerprint;
  const int32_t* pieces = nullptr;
  const uint64_t* starts = nullptr;

 private:
  // Memory of the file's pages goes back as the check moves on, so that it stays small.
  uint64_t checksum_of_body() const {
    Checksum checksum;
    for (size_t at = sizeof(CorpusHeader); at < mapped.size(); at += kWindow) {
      const size_t bytes = std::min(kWindow, mapped.size() - at);
      checksum.add({mapped.data() + at, bytes});
      mapped.release(at, bytes);
    }
    return checksum.value();
  }

  void check_sentences(const fs::path& path) const {
    const uint64_t sentences = 2 * header.pairs;
    if (starts[0] != 0 || starts[sentences] != header.pieces) refuse(path, "its offsets are wrong");
    size_t released = 0;
    uint64_t source_pieces = 0;
    for (uint64_t i = 0; i < sentences; ++i) {
      if (starts[i] >= starts[i + 1] || starts[i + 1] > header.pieces) {
        refuse(path, "the offsets of pair " + std::to_string(i / 2) + " are wrong");
      }
      const auto V = static_cast<uint32_t>(i % 2 == 0 ? header.source_V : header.target_V);
      uint32_t largest = 0;  // a negative id is larger than any V
      for (uint64_t k = starts[i]; k < starts[i + 1]; ++k) {
        largest = std::max(largest, static_cast<uint32_t>(pieces[k]));
      }
      if (largest >= V || pieces[starts[i + 1] - 1] != kEos) {
        refuse(path, "the word-pieces of pair " + std::to_string(i / 2) + " are wrong");
      }
      source_pieces += i % 2 == 0 ? starts[i + 1] - starts[i] : 0;
      const size_t at = sizeof(CorpusHeader) + starts[i] * sizeof(int32_t);
      if (at - released > kWindow) {
        mapped.release(released, at - released);
        released = at;
      }
    }
    if (source_pieces != header.source_pieces) refuse(path, "its count of source pieces is wrong");
    mapped.release(0, mapped.size());
  }

  static constexpr size_t kWindow = size_t{1} << 24;
};

Corpus Corpus::open(const fs::path& path) {
  Corpus corpus;
  corpus.file_ = std::make_shared<File>(path);
  corpus.pieces_ = corpus.file_->pieces;
  corpus.starts_ = corpus.file_->starts;
  return corpus;
}

std::span<const int32_t> Corpus::sentence(int64_t i) const {
  return {pieces_ + starts_[i], pieces_ + starts_[i + 1]};
}

int64_t Corpus::size() const { return static_cast<int64_t>(file_->header.pairs); }
int64_t Corpus::source_V() const { return static_cast<int64_t>(file_->header.source_V); }
int64_t Corpus::target_V() const { return static_cast<int64_t>(file_->header.target_V); }
int64_t Corpus::source_tokens() const { return static_cast<int64_t>(file_->header.source_pieces); }
int64_t Corpus::target_tokens() const {
  return static_cast<int64_t>(file_->header.pieces - file_->header.source_pieces);
}
const Cleaned& Corpus::cleaned() const { return file_->cleaned; }
const std::string& Corpus::recipe() const { return file_->recipe; }
const std::string& Corpus::fingerprint() const { return file_->fingerprint; }

}  // namespace transformer
