#include "transformer/data/corpus.h"

#include <sys/stat.h>

#include "tests/catch.h"
#include "tests/data/text.h"
#include "transformer/error.h"
#include "transformer/fingerprint.h"

using namespace transformer;
using namespace transformer::testing;
using Catch::Matchers::Contains;

namespace {

const Pairs kPairs{{{5, 6, 7}, {8}}, {{9}, {10, 11}}, {{}, {12}}};

std::vector<int32_t> copy(std::span<const int32_t> pieces) {
  return {pieces.begin(), pieces.end()};
}

}  // namespace

TEST_CASE("corpus: what was written is read, each sentence with its end") {
  const Folder folder;
  const auto corpus = make_corpus(folder / "c", kPairs);
  REQUIRE(corpus.size() == 3);
  REQUIRE(copy(corpus.source(0)) == std::vector<int32_t>{5, 6, 7, kEos});
  REQUIRE(copy(corpus.target(0)) == std::vector<int32_t>{8, kEos});
  REQUIRE(copy(corpus.source(1)) == std::vector<int32_t>{9, kEos});
  REQUIRE(copy(corpus.target(1)) == std::vector<int32_t>{10, 11, kEos});
  REQUIRE(copy(corpus.source(2)) == std::vector<int32_t>{kEos});
  REQUIRE(corpus.source_tokens() == 7);
  REQUIRE(corpus.target_tokens() == 7);
  REQUIRE(corpus.cleaned().kept == 3);
  REQUIRE(corpus.recipe() == "{}");
  REQUIRE(corpus.source_V() == 1000);
}

TEST_CASE("corpus: the fingerprint tells order and content, not the file") {
  const Folder folder;
  const auto first = make_corpus(folder / "a", kPairs).fingerprint();
  REQUIRE(make_corpus(folder / "b", kPairs).fingerprint() == first);
  REQUIRE(make_corpus(folder / "c", {kPairs[1], kPairs[0], kPairs[2]}).fingerprint() != first);
  // The same pieces in a row, cut elsewhere.
  const Pairs cut{{{5, 6}, {7, 8}}};
  REQUIRE(make_corpus(folder / "d", cut).fingerprint() !=
          make_corpus(folder / "e", {{{5, 6, 7}, {8}}}).fingerprint());
}

TEST_CASE("corpus: every flipped bit and every shorter file is noticed") {
  const Folder folder;
  make_corpus(folder / "c", kPairs);
  const std::string bytes = read_file(folder / "c");
  for (size_t i = 0; i < bytes.size(); ++i) {
    auto damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ (1 << i % 8));
    put(folder / "damaged", damaged);
    REQUIRE_THROWS_AS(Corpus::open(folder / "damaged"), UserError);
    put(folder / "damaged", bytes.substr(0, i));
    REQUIRE_THROWS_AS(Corpus::open(folder / "damaged"), UserError);
  }
  put(folder / "damaged", bytes + '\0');
  REQUIRE_THROWS_AS(Corpus::open(folder / "damaged"), UserError);
  REQUIRE_THROWS_AS(Corpus::open(folder / "missing"), UserError);
  REQUIRE(Corpus::open(folder / "c").size() == 3);
}

TEST_CASE("corpus: pieces outside the vocabulary are noticed, checksums or not") {
  const Folder folder;
  REQUIRE_THROWS_WITH(make_corpus(folder / "c", kPairs, 12), Contains("the word-pieces of pair 2"));
  REQUIRE_THROWS_WITH(make_corpus(folder / "c", {{{-1}, {5}}}),
                      Contains("the word-pieces of pair 0"));
  REQUIRE(make_corpus(folder / "c", kPairs, 13).size() == 3);
}

TEST_CASE("corpus: a header that claims the impossible is refused, its checksum being right") {
  const Folder folder;
  make_corpus(folder / "c", kPairs);
  const std::string bytes = read_file(folder / "c");
  constexpr size_t kPairsAt = 16;  // after magic and version
  constexpr size_t kHeader = 8 * 16;
  for (const uint64_t claim :
       {uint64_t{0}, uint64_t{4}, uint64_t{1} << 40, uint64_t{1} << 60, ~uint64_t{0}}) {
    for (size_t field = 0; field < 4; ++field) {  // pairs, pieces, source pieces, source V
      auto hostile = bytes;
      hostile.replace(kPairsAt + 8 * field, 8, reinterpret_cast<const char*>(&claim), 8);
      const uint64_t right = checksum({hostile.data(), kHeader - 8});
      hostile.replace(kHeader - 8, 8, reinterpret_cast<const char*>(&right), 8);
      put(folder / "hostile", hostile);
      if (field == 3 && claim == uint64_t{1} << 20) continue;
      REQUIRE_THROWS_AS(Corpus::open(folder / "hostile"), UserError);
    }
  }
}

TEST_CASE("corpus: a pipe is refused, and nobody is waited for") {
  const Folder folder;
  const auto path = folder / "pipe";
  REQUIRE(mkfifo(path.c_str(), 0600) == 0);
  REQUIRE_THROWS_WITH(Corpus::open(path), Contains("pipe: cannot map into memory"));
}
