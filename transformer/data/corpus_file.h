#pragma once

// How a binarised corpus lies on disk:
//   header | pieces: int32[pieces], to a multiple of 8 bytes | starts: uint64[2 * pairs + 1] |
//   recipe

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string_view>

#include "transformer/data/corpus.h"

namespace transformer {

struct CorpusHeader {
  std::array<char, 8> magic{'t', 'r', 'f', 'p', 'a', 'i', 'r', 's'};
  uint64_t version = 1;
  uint64_t pairs = 0;
  uint64_t pieces = 0;         // of both sides, end-of-sentence included
  uint64_t source_pieces = 0;  // of the source alone
  uint64_t source_V = 0;
  uint64_t target_V = 0;
  uint64_t recipe_bytes = 0;
  std::array<uint64_t, 5> cleaned{};
  uint64_t pairs_checksum = 0;  // of pieces and starts
  uint64_t body_checksum = 0;   // of everything after the header
  uint64_t checksum = 0;        // of the header up to here

  uint64_t pieces_bytes() const { return (pieces + pieces % 2) * sizeof(int32_t); }
  uint64_t starts_at() const { return sizeof(CorpusHeader) + pieces_bytes(); }
  uint64_t starts_bytes() const { return (2 * pairs + 1) * sizeof(uint64_t); }
  uint64_t own_checksum() const;
  Cleaned counts() const;
};

// A file's bytes, mapped read-only. Throws UserError.
class MappedFile {
 public:
  explicit MappedFile(const std::filesystem::path& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  const char* data() const { return data_; }
  size_t size() const { return size_; }
  // Gives back the memory of these bytes until they are read again.
  void release(size_t at, size_t bytes) const;

 private:
  const char* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace transformer
