#include "transformer/data/corpus_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "transformer/data/tokenizer.h"
#include "transformer/error.h"

namespace transformer {

namespace {

std::string_view bytes_of(const auto& items) {
  return {reinterpret_cast<const char*>(items.data()), items.size() * sizeof(items[0])};
}

}  // namespace

uint64_t CorpusHeader::own_checksum() const {
  return transformer::checksum(
      {reinterpret_cast<const char*>(this), offsetof(CorpusHeader, checksum)});
}

Cleaned CorpusHeader::counts() const {
  Cleaned counts;
  size_t i = 0;
  Cleaned::visit(counts,
                 [&](const char*, int64_t& count) { count = static_cast<int64_t>(cleaned[i++]); });
  return counts;
}

MappedFile::MappedFile(const std::filesystem::path& path) {
  // Without waiting: a pipe that nobody writes to would never open; it cannot be mapped either.
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) {
    throw UserError(path.string() + ": cannot open: " + std::strerror(errno));
  }
  struct stat status = {};
  void* mapped = MAP_FAILED;
  errno = 0;
  if (fstat(descriptor, &status) == 0) {
    size_ = static_cast<size_t>(status.st_size);
    mapped = mmap(nullptr, size_, PROT_READ, MAP_SHARED, descriptor, 0);  // refuses an empty file
  }
  const int error = errno;
  close(descriptor);
  if (mapped == MAP_FAILED) {
    throw UserError(path.string() + ": cannot map into memory: " + std::strerror(error));
  }
  data_ = static_cast<const char*>(mapped);
}

MappedFile::~MappedFile() { munmap(const_cast<char*>(data_), size_); }

void MappedFile::release(size_t at, size_t bytes) const {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const size_t start = at / page * page;
  madvise(const_cast<char*>(data_) + start, at + bytes - start, MADV_DONTNEED);
}

CorpusWriter::CorpusWriter(std::ostream& out, int64_t source_V, int64_t target_V)
    : out_(out), source_V_(source_V), target_V_(target_V) {
  const CorpusHeader header;  // its place; the figures come last
  out_.write(reinterpret_cast<const char*>(&header), sizeof header);
}

void CorpusWriter::add(std::span<const int32_t> source, std::span<const int32_t> target) {
  source_pieces_ += write(source);
  write(target);
}

uint64_t CorpusWriter::write(std::span<const int32_t> pieces) {
  constexpr size_t kBuffer = size_t{1} << 18;
  buffer_.insert(buffer_.end(), pieces.begin(), pieces.end());
  buffer_.push_back(kEos);
  starts_.push_back(starts_.back() + pieces.size() + 1);
  if (buffer_.size() > kBuffer) flush();
  return pieces.size() + 1;
}

void CorpusWriter::append(std::string_view bytes) {
  checksum_.add(bytes);
  out_.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

void CorpusWriter::flush() {
  append(bytes_of(buffer_));
  buffer_.clear();
}

void CorpusWriter::finish(const Cleaned& cleaned, const std::string& recipe) {
  CorpusHeader header;
  header.pairs = starts_.size() / 2;
  header.pieces = starts_.back();
  header.source_pieces = source_pieces_;
  header.source_V = static_cast<uint64_t>(source_V_);
  header.target_V = static_cast<uint64_t>(target_V_);
  header.recipe_bytes = recipe.size();
  size_t i = 0;
  Cleaned::visit(cleaned, [&](const char*, int64_t count) {
    header.cleaned[i++] = static_cast<uint64_t>(count);
  });
  if (header.pieces % 2 != 0) buffer_.push_back(kPad);
  flush();
  append(bytes_of(starts_));
  header.pairs_checksum = checksum_.value();
  append(recipe);
  header.body_checksum = checksum_.value();
  header.checksum = header.own_checksum();
  out_.seekp(0);
  out_.write(reinterpret_cast<const char*>(&header), sizeof header);
}

}  // namespace transformer
