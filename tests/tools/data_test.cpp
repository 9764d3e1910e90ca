#include <algorithm>
#include <sstream>

#include "tests/catch.h"
#include "tests/data/text.h"
#include "tests/tools/program.h"
#include "tests/tools/workplace.h"
#include "transformer/json.h"

using namespace transformer;
using namespace transformer::testing;
using Catch::Matchers::Contains;
namespace fs = std::filesystem;

namespace {

// `transformer data WORDS`, run in the folder.
Outcome data(const Folder& folder, const std::string& words) {
  std::vector<std::string> all = {"data"};
  std::istringstream in(words);
  for (std::string word; in >> word;) all.push_back(word);
  return run_program(all, "", "cd '" + folder.path().string() + "' &&");
}

}  // namespace

TEST_CASE("data: generate, vocabulary and prepare follow one another, and overwrite nothing",
          "[e2e]") {
  const Folder folder;
  const std::string generate =
      "generate --out pair --pairs 300 --valid 20 --test 20 --words 40 --seed 7";
  REQUIRE(data(folder, generate).code == 0);
  const auto text = read_file(folder / "pair/train.de");
  const auto again = data(folder, generate);
  REQUIRE(again.code == 2);
  REQUIRE_THAT(again.err, Contains("pair/train.en: exists; --force"));
  REQUIRE(data(folder, generate + " --force").code == 0);
  REQUIRE(read_file(folder / "pair/train.de") == text);

  put(folder / "config.json", R"({"model": {"V": 400}, "data": {"train": ["pair/train"],
      "valid": "pair/valid", "test": "pair/test", "vocabulary": "pair/v.model"}})");
  REQUIRE(data(folder, "vocabulary config.json").code == 0);
  REQUIRE(data(folder, "vocabulary config.json").code == 2);
  REQUIRE(data(folder, "vocabulary --files pair/train.en,pair/train.de -V 400 --out own").code ==
          0);
  REQUIRE(read_file(folder / "own") == read_file(folder / "pair/v.model"));
  fs::create_symlink("pair/train.en", folder / "link");
  for (const char* out : {"pair/train.en", "./pair/../pair/train.en", "link"}) {
    const auto itself =
        data(folder, std::string("vocabulary --files pair/train.de,pair/train.en -V 400 --force "
                                 "--out ") +
                         out);
    INFO(out);
    REQUIRE(itself.code == 2);
    REQUIRE_THAT(itself.err, Contains("is one of the files that it would be made from"));
  }
  REQUIRE(data(folder, "vocabulary config.json data.vocabulary=pair/train.de --force").code == 2);
  REQUIRE(read_file(folder / "pair/train.de") == text);
  const auto device =
      data(folder, "vocabulary --files pair/train.en -V 400 --out /dev/null --force");
  REQUIRE(device.code == 2);
  REQUIRE_THAT(device.err, Contains("/dev/null: expected a file to write; it is a device"));

  const auto prepared = data(folder, "prepare config.json --json");
  REQUIRE(prepared.code == 0);
  const auto sets = parse_json(prepared.out, "output")["sets"];
  REQUIRE(sets.size() == 3);
  REQUIRE(sets[0]["set"] == "train");
  REQUIRE(sets[0]["kept"] == 300);
  REQUIRE(sets[2]["kept"] == 20);
  REQUIRE(fs::exists(folder / sets[0]["file"].get<std::string>()));
  const auto table = data(folder, "prepare config.json data.max_length=20");
  INFO(table.err);
  REQUIRE(table.code == 0);
  REQUIRE_THAT(table.out, Contains("over_long") && Contains("train"));
}

TEST_CASE("data: each subcommand has help with an example; wrong use is one line and code 2",
          "[e2e]") {
  const Folder folder;
  for (const std::string name : {"", "generate", "prepare", "vocabulary"}) {
    const auto help = data(folder, name + " --help");
    REQUIRE(help.code == 0);
    REQUIRE_THAT(help.out, Contains("Example:"));
  }
  const std::pair<std::string, std::string> useless[] = {
      {"vocabulary config.json -V 300", "-V: stands with --files; of a CONFIG say model.V=N"},
      {"vocabulary config.json --out x", "--out: stands with --files"},
      {"vocabulary --files x -V 300 --out y model.h=2", "model.h=2: stands with a CONFIG"}};
  for (const auto& [words, message] : useless) refused(data(folder, words), 2, message);
  for (const std::string words :
       {"generat", "generate", "generate --out x --pairs -1", "vocabulary", "vocabulary --files x",
        "prepare", "prepare missing.json", "generate --out x --words 3"}) {
    const auto wrong = data(folder, words);
    INFO(words << ": " << wrong.err);
    REQUIRE(wrong.code == 2);
    REQUIRE(std::count(wrong.err.begin(), wrong.err.end(), '\n') == 1);
  }
}
