#include "transformer/folder_lock.h"

#include <unistd.h>

#include "tests/catch.h"
#include "transformer/error.h"

using namespace transformer;
using Catch::Matchers::Contains;
namespace fs = std::filesystem;

TEST_CASE("folder lock: a second holder is refused and told the first one's process") {
  const fs::path folder =
      fs::temp_directory_path() / ("transformer_folder_lock_test_" + std::to_string(getpid()));
  fs::create_directories(folder);
  {
    const FolderLock lock(folder);
    REQUIRE_THROWS_AS(FolderLock(folder), Failure);
    REQUIRE_THROWS_WITH(FolderLock(folder),
                        Contains("in use by another process (" + std::to_string(getpid()) + ")"));
  }
  REQUIRE_NOTHROW(FolderLock(folder));
  fs::remove_all(folder);
  REQUIRE_THROWS_WITH(FolderLock(folder), Contains("lock: cannot create"));
}
