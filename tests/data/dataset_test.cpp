#include "transformer/data/dataset.h"

#include <atomic>

#include "tests/catch.h"
#include "tests/data/text.h"
#include "transformer/data/file_lock.h"
#include "transformer/error.h"

using namespace transformer;
using namespace transformer::testing;
using Catch::Matchers::Contains;
namespace fs = std::filesystem;

namespace {

struct PreparedCorpus {
  Folder folder;
  Config config;
  PreparedCorpus() {
    write_small_text(folder);
    fs::copy(folder / "train.en", folder / "valid.en");
    fs::copy(folder / "train.de", folder / "valid.de");
    config.data = small_data(folder);
    config.model.V = kSmallV;
    config.model.source_V = kSmallV;
  }
};

}  // namespace

TEST_CASE("dataset: all that a run needs, the vocabulary learned on the way") {
  PreparedCorpus ready;
  std::vector<std::string> said;
  const auto say = [&](const std::string& line) { said.push_back(line); };
  const auto dataset = open_dataset(ready.config, say);
  REQUIRE(dataset);
  REQUIRE(dataset->vocabularies.target.size() == kSmallV);
  REQUIRE(dataset->train.corpus.size() == 3);
  REQUIRE(dataset->valid.corpus.size() == 3);
  REQUIRE(dataset->valid.text.target[1] == "die Katze schläft");
  REQUIRE(said.size() == 2);
  REQUIRE_THAT(said[1], Contains("binarised 3 pairs: "));
  said.clear();
  REQUIRE(open_dataset(ready.config, say)->train.note.empty());
  REQUIRE(said.empty());
}

TEST_CASE("dataset: pairs that are dropped are told by rule, each time") {
  PreparedCorpus ready;
  open_vocabularies(ready.config);
  put(ready.folder / "train.en", "the cat\n\n \nthe c\xe9t\na bird\n");
  put(ready.folder / "train.de", "die Katze\neins\nzwei\ndrei\nein Vogel\n");
  std::vector<std::string> said;
  const auto say = [&](const std::string& line) { said.push_back(line); };
  open_dataset(ready.config, say);
  open_dataset(ready.config, say);
  REQUIRE(said.size() == 2);
  REQUIRE_THAT(said[0], Contains("binarised 2 pairs, 3 dropped (1 invalid_utf8, 2 empty): ") &&
                            Contains("made for the first time"));
  REQUIRE(said[1] == "data.train: 2 pairs, 3 dropped (1 invalid_utf8, 2 empty)");
}

TEST_CASE("dataset: asked to stop, it learns nothing and waits for nobody") {
  PreparedCorpus ready;
  const std::atomic<bool> stop = true;
  REQUIRE_FALSE(open_dataset(ready.config, {}, &stop));
  const FileLock another(ready.config.data.vocabulary + ".lock");
  REQUIRE_FALSE(open_dataset(ready.config, {}, &stop));
  REQUIRE_FALSE(fs::exists(ready.config.data.vocabulary));
}

TEST_CASE("dataset: a vocabulary that isn't the model's is refused") {
  PreparedCorpus ready;
  open_vocabularies(ready.config);
  ready.config.model.V = 301;
  REQUIRE_THROWS_WITH(open_vocabularies(ready.config),
                      Contains("model.V: 301 is not the vocabulary's size") && Contains("has 300"));
  ready.config.model.V = Derived();
  REQUIRE(open_vocabularies(ready.config).target.size() == 300);
  fs::remove(ready.config.data.vocabulary);
  REQUIRE_THROWS_WITH(open_vocabularies(ready.config),
                      Contains("state model.V to have it learned"));
}

TEST_CASE("dataset: two vocabularies, each learned from its own side") {
  PreparedCorpus ready;
  ready.config.data.source_vocabulary = (ready.folder / "source.model").string();
  REQUIRE_THROWS_WITH(open_vocabularies(ready.config), Contains("model.tie_embeddings"));
  ready.config.model.tie_embeddings = false;
  ready.config.model.V = 290;
  ready.config.model.source_V = 280;
  const auto [source, target] = open_vocabularies(ready.config);
  REQUIRE(source.size() == 280);
  REQUIRE(target.size() == 290);
  train_vocabulary(
      {.files = {ready.folder / "train.de"}, .V = 290, .output = ready.folder / "own"});
  REQUIRE(target.fingerprint() == Tokenizer(ready.folder / "own").fingerprint());
}
