#include "transformer/sealed_json.h"

#include "tests/catch.h"
#include "tests/temporary_folder.h"
#include "transformer/files.h"

using namespace transformer;
using Catch::Matchers::Contains;

namespace {

// Numbers in every spelling, since 1e-09 and 1E-09 are one number.
const Json kJson = {{"text", "caf\xc3\xa9 \"x\"\n"},
                    {"numbers", {0, -7, 1e-09, 0.1, 1.7976931348623157e308, 12345678901234}},
                    {"nested", {{"none", nullptr}, {"yes", true}}}};

}  // namespace

TEST_CASE("sealed JSON: every single bit that is another is found") {
  const TemporaryFolder folder;
  const auto path = folder / "file.json";
  write_sealed(path, kJson);
  REQUIRE(read_sealed(path) == kJson);
  const std::string sound = read_file(path);
  for (size_t bit = 0; bit < 8 * sound.size(); ++bit) {
    std::string damaged = sound;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    INFO("bit " << bit << " of " << damaged);
    REQUIRE_THROWS_AS(read_sealed(damaged, "file", Seal::required), UserError);
  }
  for (size_t length = 0; length < sound.size(); ++length) {
    REQUIRE_THROWS_AS(read_sealed(sound.substr(0, length), "file", Seal::required), UserError);
  }
}

TEST_CASE("sealed JSON: a file without a checksum is read where one may be missing") {
  const TemporaryFolder folder;
  const auto path = folder / "file.json";
  write_json(path, kJson);
  REQUIRE(read_sealed(path, Seal::where_there_is_one) == kJson);
  REQUIRE_THROWS_WITH(read_sealed(path), Contains("file.json: damaged: it has no checksum"));
  REQUIRE_THROWS_AS(read_sealed(folder / "none.json"), Damaged);
}
