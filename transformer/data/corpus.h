#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "transformer/fingerprint.h"

namespace transformer {

// How many pairs were kept, and how many were dropped for which reason; the first that holds
// counts.
struct Cleaned {
  int64_t kept = 0;
  int64_t invalid_utf8 = 0;  // on either side
  int64_t empty = 0;         // no word-piece on either side
  int64_t over_long = 0;  // more than max_length pieces on either side, end-of-sentence not counted
  int64_t ratio = 0;      // one side above 10 pieces and above max_length_ratio times the other

  static void visit(auto& self, auto&& field) {
    field("kept", self.kept);
    field("invalid_utf8", self.invalid_utf8);
    field("empty", self.empty);
    field("over_long", self.over_long);
    field("ratio", self.ratio);
  }
  int64_t dropped() const { return invalid_utf8 + empty + over_long + ratio; }
  friend bool operator==(const Cleaned&, const Cleaned&) = default;
};

// "2 empty, 1 over_long": the rules that dropped pairs. "" where none did.
std::string dropped_by_rule(const Cleaned& cleaned);

// Pairs of sentences as word-pieces, each sentence ending in end-of-sentence: a checksummed file,
// mapped into memory read-only. Cheap to copy; may be read from several threads.
class Corpus {
 public:
  // Checks everything that is read later: sizes, checksums, offsets, ids. Throws UserError.
  static Corpus open(const std::filesystem::path& file);

  int64_t size() const;  // pairs
  std::span<const int32_t> source(int64_t pair) const { return sentence(2 * pair); }
  std::span<const int32_t> target(int64_t pair) const { return sentence(2 * pair + 1); }
  int64_t source_V() const;
  int64_t target_V() const;
  int64_t source_tokens() const;  // end-of-sentence included
  int64_t target_tokens() const;
  const Cleaned& cleaned() const;
  const std::string& recipe() const;       // what it was made from, as the writer had it
  const std::string& fingerprint() const;  // of the pairs, in order

 private:
  class File;
  std::span<const int32_t> sentence(int64_t i) const;
  std::shared_ptr<const File> file_;
  const int32_t* pieces_ = nullptr;
  const uint64_t* starts_ = nullptr;  // of each sentence among the pieces, and the end
};

// Writes the file that Corpus opens, pair by pair.
class CorpusWriter {
 public:
  CorpusWriter(std::ostream& out, int64_t source_V, int64_t target_V);
  // Without end-of-sentence, which is added.
  void add(std::span<const int32_t> source, std::span<const int32_t> target);
  void finish(const Cleaned& cleaned, const std::string& recipe);

 private:
  uint64_t write(std::span<const int32_t> pieces);
  void append(std::string_view bytes);
  void flush();

  std::ostream& out_;
  int64_t source_V_;
  int64_t target_V_;
  uint64_t source_pieces_ = 0;
  std::vector<int32_t> buffer_;
  std::vector<uint64_t> starts_{0};
  Checksum checksum_;
};

}  // namespace transformer
