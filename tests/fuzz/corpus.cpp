#include "transformer/data/corpus.h"

#include <cstring>

#include "tests/fuzz/targets.h"
#include "transformer/data/batches.h"
#include "transformer/data/corpus_file.h"

namespace transformer::fuzz {

namespace {

// With checksums that fit, as a stranger would write them: no fuzzer hits on them.
std::string with_checksums(std::string bytes) {
  CorpusHeader header;
  if (bytes.size() < sizeof header) return bytes;
  std::memcpy(&header, bytes.data(), sizeof header);
  header.body_checksum = checksum(std::string_view(bytes).substr(sizeof header));
  header.checksum = header.own_checksum();
  std::memcpy(bytes.data(), &header, sizeof header);
  return bytes;
}

Corpus open_corpus(const std::string& bytes) {
  return Corpus::open(file_with("corpus.pairs", bytes));
}

}  // namespace

void corpus(const std::string& bytes) {
  unless_refused([&] { open_corpus(bytes); });
  const Corpus read = open_corpus(with_checksums(bytes));
  int64_t source = 0, target = 0;
  for (int64_t pair = 0; pair < read.size(); ++pair) {
    for (const int32_t id : read.source(pair)) promise(id < read.source_V(), "an id is a piece's");
    for (const int32_t id : read.target(pair)) promise(id < read.target_V(), "an id is a piece's");
    source += std::ssize(read.source(pair));
    target += std::ssize(read.target(pair));
  }
  promise(source == read.source_tokens() && target == read.target_tokens(), "tokens add up");
  dropped_by_rule(read.cleaned());
  read.cleaned().dropped();
  for (const auto& rows : plan_evaluation(read, 100)) make_batch(read, rows);
  plan_epoch(read, 1 << 20, 1, 0);
}

}  // namespace transformer::fuzz
