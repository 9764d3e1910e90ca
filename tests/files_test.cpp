#include "transformer/files.h"

#include <sys/stat.h>
#include <unistd.h>

#include <future>

#include "tests/catch.h"
#include "tests/temporary_folder.h"
#include "transformer/error.h"
#include "transformer/json.h"

using namespace transformer;
using Catch::Matchers::Contains;

TEST_CASE("files: endless input, pipes without a writer and empty paths are refused") {
  const TemporaryFolder folder;
  REQUIRE_THROWS_WITH(read_file("/dev/zero", 1000),
                      "/dev/zero: expected at most 1000 bytes; it has more");
  REQUIRE_THROWS_WITH(read_json("/dev/zero"), Contains("/dev/zero: expected at most"));
  write_file(folder / "ten", "0123456789");
  REQUIRE(read_file(folder / "ten", 10) == "0123456789");
  REQUIRE_THROWS_AS(read_file(folder / "ten", 9), UserError);
  REQUIRE_THROWS_WITH(read_file(""), Contains("\"\" (an empty path): cannot open"));
  REQUIRE_THROWS_WITH(read_file(folder.path()), Contains("it is a folder"));

  const auto pipe = folder / "pipe";
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  REQUIRE_THROWS_WITH(read_json(pipe), Contains("pipe: expected a file; it is a pipe that nobody"));
}

TEST_CASE("files: a pipe with a writer is read to its end, however slowly it comes") {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const std::string long_text(300'000, 'x');  // more than a pipe holds
  auto writer = std::async(std::launch::async, [&] {
    for (const auto& part : {std::string("a"), long_text}) {
      usleep(20'000);
      for (size_t done = 0; done < part.size();) {
        const auto count = write(ends[1], part.data() + done, part.size() - done);
        if (count < 0) return;
        done += static_cast<size_t>(count);
      }
    }
    close(ends[1]);
  });
  REQUIRE(read_file("/dev/fd/" + std::to_string(ends[0])) == "a" + long_text);
  writer.get();
  close(ends[0]);
}
