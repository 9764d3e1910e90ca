#include "transformer/printable.h"

#include "tests/catch.h"
#include "transformer/fields.h"

using namespace transformer;
using Catch::Matchers::Contains;

TEST_CASE("printable: what a terminal would obey is shown as an escape, text stays as it is") {
  REQUIRE(printable("d_model größer 日本 😀 \"x\"") == "d_model größer 日本 😀 \"x\"");
  REQUIRE(printable("a\x1b[2Jb\rc\nd\te\x7f") == "a\\u001b[2Jb\\u000dc\\nd\\u0009e\\u007f");
  REQUIRE(printable(std::string("a\0b", 3)) == "a\\u0000b");
  REQUIRE(printable("\xc2\x9bK") == "\\u009bK");        // C1's control sequence
  REQUIRE(printable("x\xe2\x80\xaey") == "x\\u202ey");  // turns the line round
  REQUIRE(printable("\xff\xc3(\xed\xa0\x80") == "\\xff\\xc3(\\xed\\xa0\\x80");  // not UTF-8
}

TEST_CASE("printable: long text is cut at a whole character") {
  REQUIRE(printable("abcdef", 6) == "abcdef");
  REQUIRE(printable("abcdefg", 6) == "abcdef...");
  REQUIRE(printable("abcdeä", 6) == "abcde...");
  REQUIRE(printable("abcde\n", 6) == "abcde...");
  REQUIRE(printable(std::string(1 << 20, 'k')).size() == 83);
}

TEST_CASE("fields: names read from a file are shown as values are") {
  REQUIRE(fields::shown_name("model.h") == "model.h");
  REQUIRE(fields::shown_name("") == "\"\"");
  REQUIRE(fields::shown_name("a\x1b[2J") == "\"a\\u001b[2J\"");
  REQUIRE(fields::shown_name(std::string(1000, 'k')) == "\"" + std::string(79, 'k') + "...");
  REQUIRE_THAT(nearest_key("h", {"model.h", "data.make"}), Contains("did you mean model.h?"));
  REQUIRE_THAT(nearest_key("seed", {"a.seed", "b.seed"}), Contains("a.seed or b.seed?"));
  REQUIRE_THAT(nearest_key("a.warmup", {"a.factor", "a.warmup_steps"}),
               Contains("a.warmup_steps?"));
  REQUIRE_THAT(nearest_key("a.seed", {"a.speed", "b.seed"}), Contains("mean b.seed?"));
  REQUIRE_THAT(nearest_key("a.foo", {"a.N", "b.h"}), Contains("; known: a.N") && !Contains("b.h"));
}
