#include "transformer/data/tokenizer.h"

#include <stdexcept>

#include "tests/catch.h"
#include "tests/data/text.h"
#include "transformer/error.h"

using namespace transformer;
using namespace transformer::testing;
using Catch::Matchers::Contains;

TEST_CASE("tokenizer: the special pieces are where they belong") {
  const Folder folder;
  const auto tokenizer = small_tokenizer(folder);
  REQUIRE(tokenizer.size() == kSmallV);
  REQUIRE(tokenizer.piece(kPad) == "<pad>");
  REQUIRE(tokenizer.piece(kUnk) == "<unk>");
  REQUIRE(tokenizer.piece(kBos) == "<s>");
  REQUIRE(tokenizer.piece(kEos) == "</s>");
  REQUIRE(tokenizer.piece(4) == "<0x00>");
  REQUIRE(tokenizer.piece(259) == "<0xFF>");
}

TEST_CASE("tokenizer: text comes back as it was, whatever its characters") {
  const Folder folder;
  const auto tokenizer = small_tokenizer(folder);
  for (const std::string line :
       {"the dog sees the cat", "die Katze schläft", "naïve façade 東京 🙂👩‍🚀 ½ ﬁ",
        "u\xcc\x88 is not \xc3\xbc", "</s> <pad> <0x41>", "a\tb", ""}) {
    const auto pieces = tokenizer.encode(line);
    for (const int32_t piece : pieces) REQUIRE((piece > kEos && piece < kSmallV));
    REQUIRE(tokenizer.decode(pieces) == line);
  }
  REQUIRE(tokenizer.decode(tokenizer.encode("  the   dog ")) == "the dog");
}

TEST_CASE("tokenizer: an emoji is spelled in its four bytes") {
  const Folder folder;
  const auto tokenizer = small_tokenizer(folder);
  // U+1F642 is F0 9F 99 82; byte b stands at id 4 + b, the space mark before it is a piece of its
  // own.
  const auto pieces = tokenizer.encode("🙂");
  REQUIRE(pieces.size() == 5);
  REQUIRE(std::vector<int32_t>(pieces.begin() + 1, pieces.end()) ==
          std::vector<int32_t>{4 + 0xf0, 4 + 0x9f, 4 + 0x99, 4 + 0x82});
}

TEST_CASE("tokenizer: decoding leaves special pieces out and always gives UTF-8") {
  const Folder folder;
  const auto tokenizer = small_tokenizer(folder);
  auto pieces = tokenizer.encode("the cat");
  pieces.insert(pieces.begin(), kBos);
  pieces.insert(pieces.begin() + 2, kUnk);
  pieces.push_back(kEos);
  pieces.push_back(kPad);
  REQUIRE(tokenizer.decode(pieces) == "the cat");
  REQUIRE(tokenizer.decode({4 + 0xf0}) == "\xef\xbf\xbd");  // U+FFFD
  REQUIRE_THROWS_AS(tokenizer.decode({-1}), std::out_of_range);
  REQUIRE_THROWS_AS(tokenizer.decode({kSmallV}), std::out_of_range);
  REQUIRE_THROWS_AS(tokenizer.piece(kSmallV), std::out_of_range);
}

TEST_CASE("vocabulary: the same files give the same bytes") {
  const Folder folder;
  const auto first = small_tokenizer(folder);
  for (const auto kind : {VocabularyKind::bpe, VocabularyKind::unigram}) {
    std::string bytes[2];
    for (int i = 0; i < 2; ++i) {
      const auto output = folder / ("again" + std::to_string(i));
      train_vocabulary({.files = {folder / "train.en", folder / "train.de"},
                        .V = 290,
                        .kind = kind,
                        .output = output});
      bytes[i] = read_file(output);
    }
    REQUIRE(bytes[0] == bytes[1]);
  }
  REQUIRE(Tokenizer(folder / "again0").fingerprint() != first.fingerprint());
}

TEST_CASE("vocabulary: of long text, evenly spread lines are read") {
  const Folder folder;
  std::string text;
  for (int i = 0; i < 30; ++i) text += i % 3 == 2 ? "abcab\n" : "xyzxy\n";
  put(folder / "long", text);
  put(folder / "third", "abcab\nabcab\nabcab\nabcab\nabcab\nabcab\nabcab\nabcab\nabcab\nabcab\n");
  train_vocabulary(
      {.files = {folder / "long"}, .V = 266, .most_lines = 10, .output = folder / "a"});
  train_vocabulary({.files = {folder / "third"}, .V = 266, .output = folder / "b"});
  REQUIRE(read_file(folder / "a") == read_file(folder / "b"));
}

TEST_CASE("vocabulary: a V that does not fit the text is refused with the V that would") {
  const Folder folder;
  write_small_text(folder);
  const auto train = [&](int64_t V) {
    train_vocabulary({.files = {folder / "train.en"}, .V = V, .output = folder / "v"});
  };
  // Distinct characters of train.en: t h e d o g s c a l p b i r n and the space mark, 16.
  REQUIRE_THROWS_WITH(train(100), Contains("at least 276"));
  REQUIRE_THROWS_WITH(train(275), Contains("at least 276"));
  train(276);
  REQUIRE(Tokenizer(folder / "v").size() == 276);
  std::string message;
  try {
    train(5000);
  } catch (const UserError& error) {
    message = error.what();
  }
  REQUIRE_THAT(message, Contains("the text is too small: the largest V possible is "));
  const int64_t most = std::stoll(message.substr(message.rfind(' ')));
  train(most);
  REQUIRE(Tokenizer(folder / "v").size() == most);
  REQUIRE_THROWS_AS(train(most + 1), UserError);
}

TEST_CASE("vocabulary: empty and missing text is refused") {
  const Folder folder;
  put(folder / "empty", "\n\n");
  REQUIRE_THROWS_WITH(
      train_vocabulary({.files = {folder / "empty"}, .V = 300, .output = folder / "v"}),
      Contains("there is none"));
  REQUIRE_THROWS_AS(
      train_vocabulary({.files = {folder / "missing"}, .V = 300, .output = folder / "v"}),
      UserError);
  REQUIRE_FALSE(std::filesystem::exists(folder / "v"));
}

TEST_CASE("tokenizer: a file that is no model is refused") {
  const Folder folder;
  put(folder / "text", "these are not the bytes of a model");
  REQUIRE_THROWS_WITH(Tokenizer(folder / "text"), Contains("expected a SentencePiece model"));
  put(folder / "nothing", "");
  REQUIRE_THROWS_AS(Tokenizer(folder / "nothing"), UserError);
  REQUIRE_THROWS_WITH(Tokenizer(folder / "missing"), Contains("cannot open"));
}
