#include "transformer/data/vocabulary_fault.h"

#include <sentencepiece_trainer.h>

#include "tests/catch.h"
#include "tests/data/text.h"
#include "transformer/data/tokenizer.h"
#include "transformer/error.h"
#include "transformer/files.h"
#include "transformer/random.h"

using namespace transformer;
using namespace transformer::testing;
using Catch::Matchers::Contains;

namespace {

// The bytes of a model that normalises by Unicode's NFKC and folds case, as other programs' may.
std::string model_with_rules(const Folder& folder) {
  put(folder / "text", "the cat sees a dog\n");
  const auto status =
      sentencepiece::SentencePieceTrainer::Train({{"input", (folder / "text").string()},
                                                  {"model_prefix", (folder / "other").string()},
                                                  {"normalization_rule_name", "nfkc_cf"},
                                                  {"vocab_size", "275"},
                                                  {"hard_vocab_limit", "false"},
                                                  {"pad_id", "0"},
                                                  {"unk_id", "1"},
                                                  {"bos_id", "2"},
                                                  {"eos_id", "3"},
                                                  {"byte_fallback", "true"},
                                                  {"minloglevel", "3"}});
  REQUIRE(status.ok());
  return read_file(folder / "other.model");
}

// A field of a message, a message itself: its tag, its length, and what it has.
std::string field(char tag, const std::string& content) {
  REQUIRE(content.size() < 128);
  return std::string{tag, static_cast<char>(content.size())} + content;
}

}  // namespace

TEST_CASE("vocabulary: another program's rules of normalisation are followed") {
  const Folder folder;
  const std::string model = model_with_rules(folder);
  REQUIRE(fault_of_vocabulary(model) == "");
  put(folder / "v", model);
  const Tokenizer tokenizer(folder / "v");
  REQUIRE(tokenizer.decode(tokenizer.encode("Ａﬁ①  ŒDog")) == "afi1 œdog");
}

TEST_CASE("vocabulary: rules that lead out of it are never followed") {
  const Folder folder;
  const std::string sound = model_with_rules(folder);
  Random random(1);
  int refused = 0;
  for (int i = 0; i < 100; ++i) {  // nearly all of the file is rules
    std::string model = sound;
    for (int k = 0; k < 1000; ++k) {
      model[random.below(model.size())] = static_cast<char>(random.below(256));
    }
    put(folder / "v", model);
    try {
      const Tokenizer tokenizer(folder / "v");
      tokenizer.encode("Ａﬁ①  ŒDog");
    } catch (const UserError& error) {
      REQUIRE_THAT(error.what(), Contains("expected a SentencePiece model; "));
      ++refused;
    }
  }
  REQUIRE(refused > 90);
}

TEST_CASE("vocabulary: what is wrong with the rules is said") {
  const auto fault = [](const std::string& charsmap) {
    return fault_of_vocabulary(field('\x1a', field('\x12', charsmap)));
  };
  REQUIRE(fault("") == "");
  REQUIRE(fault("abc") == "its rules are cut");
  REQUIRE(fault(std::string("\x08\0\0\0\0\0\0\0", 8)) == "its rules are cut");
  REQUIRE(fault(std::string("\x04\0\0\0\0\0\0\0", 8)) == "its rules lead out of it");
  REQUIRE(fault_of_vocabulary("\x1a\x7f") == "this is not one");
}
