#include "experiments/metrics.h"

#include "tests/catch.h"
#include "tests/temporary_folder.h"
#include "transformer/files.h"

using namespace transformer;

TEST_CASE("metrics: going on after a step drops later lines and one cut short") {
  const TemporaryFolder folder;
  const auto path = folder / "metrics.jsonl";
  write_file(path, "{\"step\":1}\n{\"step\":2}\n{\"step\":3}\n{\"st");
  MetricsFile(path, 2).append({{"step", 3}, {"loss", 0.5}});
  REQUIRE(read_file(path) == "{\"step\":1}\n{\"step\":2}\n{\"step\":3,\"loss\":0.5}\n");
}
