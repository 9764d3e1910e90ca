#include "transformer/data/parallel_text.h"

#include "tests/catch.h"
#include "tests/data/text.h"
#include "transformer/data/lines.h"
#include "transformer/error.h"
#include "transformer/fingerprint.h"

using namespace transformer;
using namespace transformer::testing;
using Catch::Matchers::Contains;

TEST_CASE("lines: CRLF, a byte order mark and a missing last line end are not text") {
  const Folder folder;
  write_text(folder / "text", "\xef\xbb\xbfone\r\n\r\ntwo \n\n three");
  LineReader reader(folder / "text");
  std::vector<std::string> lines;
  for (std::string line; reader.next(line);) lines.push_back(line);
  REQUIRE(lines == std::vector<std::string>{"one", "", "two ", "", " three"});
  REQUIRE(reader.number() == 5);
  const auto file = scan_text(folder / "text");
  REQUIRE(file.lines == 5);
  REQUIRE(file.fingerprint == fingerprint(read_file(folder / "text")));
}

TEST_CASE("lines: scanning counts the lines that reading gives") {
  const Folder folder;
  const std::pair<const char*, int64_t> cases[] = {
      {"", 0}, {"\n", 1}, {"a", 1}, {"a\n", 1}, {"a\n\n", 2}};
  for (const auto& [text, lines] : cases) {
    write_text(folder / "text", text);
    REQUIRE(scan_text(folder / "text").lines == lines);
  }
}

TEST_CASE("parallel text: line i and line i") {
  const Folder folder;
  write_text(folder / "valid.en", "one\n\nthree\n");
  write_text(folder / "valid.de", "eins\nzwei\ndrei\n");
  const auto text = read_parallel((folder / "valid").string(), {});
  REQUIRE(text.source == std::vector<std::string>{"one", "", "three"});
  REQUIRE(text.target == std::vector<std::string>{"eins", "zwei", "drei"});
}

TEST_CASE("parallel text: what does not fit is said with file, line and counts") {
  const Folder folder;
  const auto prefix = (folder / "valid").string();
  DataConfig data;
  data.make = "make the data";
  REQUIRE_THROWS_WITH(read_parallel(prefix, data), Contains("valid.en: expected a text file") &&
                                                       Contains("; make it with: make the data"));
  write_text(folder / "valid.en", "one\ntwo\n");
  write_text(folder / "valid.de", "eins\n");
  REQUIRE_THROWS_WITH(read_parallel(prefix, data),
                      Contains("valid.en: expected as many lines as") && Contains("valid.de") &&
                          Contains("got 2 and 1"));
  write_text(folder / "valid.de", "eins\nzw\xe9i\n");
  REQUIRE_THROWS_WITH(read_parallel(prefix, data), Contains("valid.de: line 2: expected UTF-8"));
}
