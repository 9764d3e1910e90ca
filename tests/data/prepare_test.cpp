#include "transformer/data/prepare.h"

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <sstream>

#include "tests/catch.h"
#include "tests/data/text.h"
#include "transformer/data/binarise.h"
#include "transformer/data/file_lock.h"
#include "transformer/data/stopped.h"
#include "transformer/error.h"

using namespace transformer;
using namespace transformer::testing;
using Catch::Matchers::Contains;
namespace fs = std::filesystem;

namespace {

// As if the file had been written so many seconds ago.
void age(const fs::path& file, int seconds) {
  fs::last_write_time(file, fs::file_time_type::clock::now() - std::chrono::seconds(seconds));
}

struct Ready {
  Folder folder;
  Tokenizer tokenizer = small_tokenizer(folder);
  DataConfig data = small_data(folder);
  Prepared prepare() const { return prepare_training(data, tokenizer, tokenizer); }
};

}  // namespace

TEST_CASE("prepare: pairs are kept or dropped by rule, and counted") {
  Ready ready;
  ready.data.max_length = 12;
  ready.data.max_length_ratio = 2;
  const std::pair<std::string, std::string> pairs[] = {
      {"the cat", "die Katze"},           // kept
      {"", "die Katze"},                  // empty
      {"the cat", "   "},                 // empty: spaces are no pieces
      {"the c\xe9t", ""},                 // not UTF-8: the first reason counts
      {"the cat", "qqqqqqqqqqqqqqqqqq"},  // over-long: q is unknown, so each is a byte
      {"qqqqqqqqqqq", "q"},               // 12 against 2 pieces, with the space mark: ratio
      {"qqqqqqqqq", "q"},                 // 10 against 2: too short to say, kept
      {"qqqqqqqqqqq", "qqqqq"},           // 12 against 6: kept
      {"qqqqqqqqqqqq", "qqqqqqqqqqqq"},   // 13: over-long
  };
  std::string source, target;
  for (const auto& [s, t] : pairs) source += s + "\r\n", target += t + "\n";
  put(ready.folder / "train.en", source);
  put(ready.folder / "train.de", target);
  const auto prepared = ready.prepare();
  REQUIRE(prepared.corpus.cleaned() ==
          Cleaned{.kept = 3, .invalid_utf8 = 1, .empty = 2, .over_long = 2, .ratio = 1});
  REQUIRE(prepared.corpus.size() == 3);
  const auto place = [&](int64_t pair) {
    return place_of_training_pair(ready.data, ready.tokenizer, ready.tokenizer, pair);
  };
  const std::string file = (ready.folder / "train.en").string();
  REQUIRE(place(0) == file + ": line 1");
  REQUIRE(place(1) == file + ": line 7");
  REQUIRE(place(2) == file + ": line 8");
  auto want = ready.tokenizer.encode("die Katze");
  want.push_back(kEos);
  const auto got = prepared.corpus.target(0);
  REQUIRE(std::vector<int32_t>(got.begin(), got.end()) == want);
}

TEST_CASE("prepare: several corpora follow one another, in order") {
  Ready ready;
  put(ready.folder / "more.en", "a bird\n");
  put(ready.folder / "more.de", "ein Vogel\n");
  ready.data.train.push_back((ready.folder / "more").string());
  const auto corpus = ready.prepare().corpus;
  REQUIRE(corpus.size() == 4);
  const auto last = corpus.source(3);
  REQUIRE(ready.tokenizer.decode({last.begin(), last.end()}) == "a bird");
}

TEST_CASE("prepare: many pairs keep their order over the threads") {
  Ready ready;
  std::string source, target;
  for (int i = 0; i < 9000; ++i) {
    source += std::to_string(i) + "\n";
    target += std::to_string(2 * i) + "\n";
  }
  put(ready.folder / "train.en", source);
  put(ready.folder / "train.de", target);
  const auto corpus = ready.prepare().corpus;
  REQUIRE(corpus.size() == 9000);
  for (int64_t i = 0; i < 9000; i += 37) {
    const auto s = corpus.source(i);
    const auto t = corpus.target(i);
    REQUIRE(ready.tokenizer.decode({s.begin(), s.end()}) == std::to_string(i));
    REQUIRE(ready.tokenizer.decode({t.begin(), t.end()}) == std::to_string(2 * i));
  }
}

TEST_CASE("prepare: a binarised file is found again, and made again when it is stale or damaged") {
  Ready ready;
  const auto made = ready.prepare();
  REQUIRE(made.note == "made for the first time");
  REQUIRE(made.file.parent_path() == ready.folder / "binarised");
  REQUIRE(ready.prepare().note.empty());

  // Another time, the same text: found. The same size and another text: made again.
  age(ready.folder / "train.en", 5);
  REQUIRE(ready.prepare().note.empty());
  put(ready.folder / "train.de", "der Hund sieht die Katze\ndie Katze schlaeft\nein Vogel sing\n");
  const auto changed = ready.prepare();
  REQUIRE_THAT(changed.note, Contains("the text changed"));
  REQUIRE(changed.file == made.file);
  REQUIRE(changed.corpus.fingerprint() != made.corpus.fingerprint());
  REQUIRE(ready.prepare().note.empty());
  // The mapping of the file that was replaced still stands.
  REQUIRE(made.corpus.size() == 3);

  std::string bytes = read_file(made.file);
  bytes[bytes.size() / 2] ^= 4;
  put(made.file, bytes);
  REQUIRE_THAT(ready.prepare().note, Contains("made again: ") && Contains("checksum"));
  put(made.file, bytes.substr(0, 50));
  REQUIRE_THAT(ready.prepare().note, Contains("cut short"));
  REQUIRE(ready.prepare().corpus.fingerprint() == changed.corpus.fingerprint());

  const auto other_rules = [&] {
    auto data = ready.data;
    data.max_length = 3;
    return prepare_training(data, ready.tokenizer, ready.tokenizer);
  };
  REQUIRE_THROWS_WITH(other_rules(), Contains("got none of 3"));
  ready.data.max_length = 200;
  REQUIRE(ready.prepare().file != made.file);

  ready.data.max_length = 256;
  train_vocabulary({.files = {ready.folder / "train.en", ready.folder / "train.de"},
                    .V = 290,
                    .output = ready.data.vocabulary});
  ready.tokenizer = Tokenizer(ready.data.vocabulary);
  REQUIRE_THAT(ready.prepare().note, Contains("the vocabulary changed"));
}

TEST_CASE("prepare: text written in the clock's step of its reading is not trusted by its time") {
  Ready ready;
  const auto time = fs::last_write_time(ready.folder / "train.en");
  const auto made = ready.prepare();
  put(ready.folder / "train.en", "the dog sees the dog\nthe cat sleeps\na bird sings to the dog\n");
  fs::last_write_time(ready.folder / "train.en", time);
  REQUIRE(ready.prepare().corpus.fingerprint() != made.corpus.fingerprint());
}

TEST_CASE("prepare: nothing left is an error with the counts, and leaves no file") {
  Ready ready;
  put(ready.folder / "train.en", "\nb\xe9\n");
  put(ready.folder / "train.de", "a\nb\n");
  REQUIRE_THROWS_WITH(ready.prepare(), Contains("got none of 2 (1 invalid_utf8, 1 empty)"));
  for (const auto& entry : fs::directory_iterator(ready.folder / "binarised")) {
    REQUIRE(entry.path().extension() == ".lock");
  }
  put(ready.folder / "train.de", "a\n");
  REQUIRE_THROWS_WITH(ready.prepare(), Contains("got 2 and 1"));
  ready.data.train = {};
  REQUIRE_THROWS_WITH(ready.prepare(), Contains("data.train"));
}

TEST_CASE("prepare: asked to stop, it ends among the pairs or while it waits, and leaves no file") {
  Ready ready;
  const std::atomic<bool> stop = true;
  const auto stopped = [&] {
    REQUIRE_THROWS_AS(prepare_training(ready.data, ready.tokenizer, ready.tokenizer, &stop),
                      Stopped);
    for (const auto& entry : fs::directory_iterator(ready.folder / "binarised")) {
      REQUIRE(entry.path().extension() == ".lock");
    }
  };
  stopped();
  const auto file = ready.prepare().file;
  fs::remove(file);
  const FileLock another(file.string() + ".lock");
  stopped();

  const auto files = parallel_files(ready.data.train[0], ready.data);
  std::ostringstream out;
  REQUIRE_THROWS_AS(binarise({files}, Cleaning::clean, ready.data, ready.tokenizer, ready.tokenizer,
                             "", out, &stop),
                    Stopped);
}

TEST_CASE("prepare: a set to evaluate on keeps every line, and must be UTF-8") {
  Ready ready;
  ready.data.max_length = 2;
  put(ready.folder / "valid.en", "\nthe dog sees the cat\n");
  put(ready.folder / "valid.de", "der Hund\n\n");
  const auto prefix = (ready.folder / "valid").string();
  const auto corpus =
      prepare_evaluation(prefix, ready.data, ready.tokenizer, ready.tokenizer).corpus;
  REQUIRE(corpus.size() == 2);
  REQUIRE(corpus.source(0).size() == 1);
  REQUIRE(corpus.target(1).size() == 1);
  put(ready.folder / "valid.de", "der Hund\n\xff\n");
  REQUIRE_THROWS_WITH(prepare_evaluation(prefix, ready.data, ready.tokenizer, ready.tokenizer),
                      Contains("valid.de: line 2: expected UTF-8"));
}

TEST_CASE("prepare: several processes may ask at once") {
  Ready ready;
  std::vector<pid_t> children;
  for (int i = 0; i < 4; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      bool done = false;
      try {
        done = ready.prepare().corpus.size() == 3;
      } catch (...) {
      }
      _exit(done ? 0 : 1);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    REQUIRE((WIFEXITED(status) && WEXITSTATUS(status) == 0));
  }
}
