#include "transformer/utf8.h"

#include "tests/catch.h"

using transformer::is_utf8;

TEST_CASE("utf8: what RFC 3629 allows and refuses") {
  REQUIRE(is_utf8(""));
  REQUIRE(
      is_utf8("Gr\xc3\xbc\xc3\x9f"
              "e \xe2\x82\xac \xf0\x9f\x98\x80"));
  REQUIRE(is_utf8("\xf4\x8f\xbf\xbf"));        // U+10FFFF
  REQUIRE_FALSE(is_utf8("\xf4\x90\x80\x80"));  // one more
  REQUIRE_FALSE(is_utf8("\xc0\xaf"));          // overlong
  REQUIRE_FALSE(is_utf8("\xe0\x80\xaf"));      // overlong
  REQUIRE_FALSE(is_utf8("\xed\xa0\x80"));      // surrogate
  REQUIRE_FALSE(is_utf8("\xe2\x82"));          // cut
  REQUIRE_FALSE(is_utf8("\x80"));              // no lead
  REQUIRE_FALSE(is_utf8("caf\xe9"));           // Latin-1
}
