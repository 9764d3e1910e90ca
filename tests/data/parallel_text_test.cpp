#include "transformer/data/parallel_text.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/catch.h"
#include "tests/data/text.h"
#include "transformer/data/lines.h"
#include "transformer/error.h"
#include "transformer/fingerprint.h"

using namespace transformer;
using namespace transformer::testing;
using Catch::Matchers::Contains;
namespace fs = std::filesystem;

TEST_CASE("lines: CRLF, a byte order mark and a missing last line end are not text") {
  const Folder folder;
  put(folder / "text", "\xef\xbb\xbfone\r\n\r\ntwo \n\n three");
  LineReader reader(folder / "text");
  std::vector<std::string> lines;
  for (std::string line; reader.next(line);) lines.push_back(line);
  REQUIRE(lines == std::vector<std::string>{"one", "", "two ", "", " three"});
  REQUIRE(reader.number() == 5);
  const auto file = scan_text(folder / "text");
  REQUIRE(file.lines == 5);
  REQUIRE(file.fingerprint == fingerprint(read_file(folder / "text")));
}

TEST_CASE("lines: text with line ends across the blocks that are read") {
  const Folder folder;
  std::string text = "\xef\xbb\xbf";
  std::vector<std::string> expected;
  for (const size_t length : {0, 65530, 1, 65536, 65535, 200000, 3}) {
    expected.emplace_back(length, 'x');
    text += expected.back() + "\r\n";
  }
  put(folder / "text", text + "end");
  expected.emplace_back("end");
  LineReader reader(folder / "text");
  for (const auto& line : expected) {
    std::string read;
    REQUIRE(reader.has_next());
    REQUIRE(reader.next(read));
    REQUIRE(read == line);
  }
  std::string none;
  REQUIRE_FALSE(reader.has_next());
  REQUIRE_FALSE(reader.next(none));
}

TEST_CASE("lines: a line is given as soon as it is whole, and none after the stop") {
  const Folder folder;
  const auto pipe = folder / "pipe";
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  const int writer = open(pipe.c_str(), O_RDWR | O_CLOEXEC);
  const auto say = [&](const std::string& text) {
    REQUIRE(write(writer, text.data(), text.size()) == std::ssize(text));
  };
  std::atomic<bool> stop = false;
  LineReader reader(pipe, &stop);
  std::string line;
  REQUIRE_FALSE(reader.has_next());
  say("one\ntw");
  REQUIRE(reader.has_next());
  REQUIRE(reader.next(line));
  REQUIRE(line == "one");
  REQUIRE_FALSE(reader.has_next());
  say("o\nthree\n");
  REQUIRE(reader.next(line));
  REQUIRE(line == "two");
  stop = true;
  REQUIRE_FALSE(reader.next(line));
  LineReader stopped(pipe, &stop);
  REQUIRE_FALSE(stopped.next(line));  // though the pipe is open and empty
  close(writer);
  REQUIRE_THROWS_WITH([&] { LineReader(pipe).next(line); }(),
                      Contains("it is a pipe that nobody writes to"));
}

TEST_CASE("lines: an endless line is refused") {
  const Folder folder;
  std::ofstream(folder / "text") << "one\n";
  fs::resize_file(folder / "text", LineReader::kLongestLine + 1000000);  // NULs that take no disk
  LineReader reader(folder / "text");
  std::string line;
  REQUIRE(reader.next(line));
  REQUIRE_THROWS_WITH(reader.next(line), Contains("text: line 2: expected at most 67108864 bytes"));
}

TEST_CASE("lines: scanning counts the lines that reading gives") {
  const Folder folder;
  const std::pair<const char*, int64_t> cases[] = {
      {"", 0}, {"\n", 1}, {"a", 1}, {"a\n", 1}, {"a\n\n", 2}};
  for (const auto& [text, lines] : cases) {
    put(folder / "text", text);
    REQUIRE(scan_text(folder / "text").lines == lines);
  }
}

TEST_CASE("parallel text: line i and line i") {
  const Folder folder;
  put(folder / "valid.en", "one\n\nthree\n");
  put(folder / "valid.de", "eins\nzwei\ndrei\n");
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
  put(folder / "valid.en", "one\ntwo\n");
  put(folder / "valid.de", "eins\n");
  REQUIRE_THROWS_WITH(read_parallel(prefix, data),
                      Contains("valid.en: expected as many lines as") && Contains("valid.de") &&
                          Contains("got 2 and 1"));
  put(folder / "valid.de", "eins\nzw\xe9i\n");
  REQUIRE_THROWS_WITH(read_parallel(prefix, data), Contains("valid.de: line 2: expected UTF-8"));
}
