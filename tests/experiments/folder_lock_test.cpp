#include "experiments/folder_lock.h"

#include <unistd.h>

#include "tests/catch.h"
#include "tests/temporary_folder.h"
#include "transformer/error.h"

using namespace transformer;
using Catch::Matchers::Contains;

TEST_CASE("folder lock: a second holder is refused by name, and may have it afterwards") {
  const TemporaryFolder folder;
  {
    const FolderLock first(folder.path());
    REQUIRE_THROWS_WITH(FolderLock(folder.path()),
                        Contains("in use by another process (pid " + std::to_string(getpid()) + ")"));
  }
  const FolderLock second(folder.path());
}
