#include "transformer/folder_lock.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <functional>

#include "tests/catch.h"
#include "tests/temporary_folder.h"
#include "transformer/error.h"
#include "transformer/files.h"

using namespace transformer;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;
namespace fs = std::filesystem;

namespace {

// As a holder does: the lock is on the file, which stays the same.
void write_in_place(const fs::path& file, const std::string& text) {
  std::ofstream(file, std::ios::trunc) << text;
}

}  // namespace

TEST_CASE("folder lock: a second holder is refused and told the first one's process") {
  const TemporaryFolder folder;
  {
    const FolderLock lock(folder.path());
    REQUIRE(is_locked(folder.path()));
    REQUIRE_THROWS_AS(FolderLock(folder.path()), Failure);
    REQUIRE_THROWS_WITH(FolderLock(folder.path()),
                        Contains("in use by another process (" + std::to_string(getpid()) + ")"));
  }
  REQUIRE_FALSE(is_locked(folder.path()));
  REQUIRE_NOTHROW(FolderLock(folder.path()));
  REQUIRE_THROWS_WITH(FolderLock(folder / "nowhere"), Contains("lock: cannot create"));
}

TEST_CASE("folder lock: a holder on another machine is named with it") {
  const TemporaryFolder folder;
  const FolderLock lock(folder.path());
  write_in_place(folder / "lock", "77 transformer\nrun\nnode7\n");
  REQUIRE_THROWS_WITH(FolderLock(folder.path()),
                      Contains("in use by another process (77 on node7); wait for it"));
  REQUIRE(held_by(folder.path()) == "run");
  write_in_place(folder / "lock", "78 transformer\n");  // an earlier version's
  REQUIRE_THROWS_WITH(FolderLock(folder.path()), Contains("another process (78); wait for it"));
}

TEST_CASE("folder lock: a holder learns that its folder was removed or replaced") {
  const TemporaryFolder folder;
  const fs::path run = folder / "run";
  const auto hold = [&](const std::function<void()>& change) {
    fs::create_directories(run);
    const FolderLock lock(run);
    REQUIRE_NOTHROW(lock.expect_held());
    change();
    REQUIRE_THROWS_WITH(lock.expect_held(), Contains("run: was removed or replaced"));
  };
  hold([&] { fs::remove(run / "lock"); });
  hold([&] { fs::remove_all(run); });
  hold([&] {
    fs::rename(run, folder / "moved");
    fs::create_directories(run);
    const FolderLock another(run);
  });
}

TEST_CASE("folder lock: a touch is a sign of life that others see") {
  const TemporaryFolder folder;
  REQUIRE_FALSE(last_touched(folder.path()));
  const FolderLock lock(folder.path());
  const timespec long_ago[2] = {{1000, 0}, {1000, 0}};
  REQUIRE(utimensat(AT_FDCWD, (folder / "lock").c_str(), long_ago, 0) == 0);
  REQUIRE(last_touched(folder.path())->time_since_epoch() == std::chrono::seconds(1000));
  lock.touch();
  REQUIRE(std::chrono::system_clock::now() - *last_touched(folder.path()) <
          std::chrono::seconds(60));
}

TEST_CASE("folder lock: what killed writers left half-written is removed, and nothing else") {
  const TemporaryFolder folder;
  const pid_t ended = fork();
  if (ended == 0) _exit(0);
  REQUIRE(waitpid(ended, nullptr, 0) == ended);
  const auto name = [](pid_t pid) { return "result.json.tmp-" + std::to_string(pid); };
  const std::string left = name(ended), running = name(getppid()), own = name(getpid());
  const std::string notes = "notes.tmp-" + std::to_string(ended);  // somebody's own
  for (const std::string& file : {left, running, own, notes, std::string("result.json.tmp-x"),
                                  std::string("result.json.tmp-"), std::string("result.json")}) {
    write_file(folder / file, "text");
  }
  fs::create_directory(folder / ("b.tmp-" + std::to_string(ended)));
  const FolderLock lock(folder.path(), {"result.json", "b"});
  REQUIRE_FALSE(fs::exists(folder / left));
  REQUIRE_FALSE(fs::exists(folder / own));  // of an earlier process with this number
  for (const std::string& file : {running, notes, std::string("result.json.tmp-x"),
                                  std::string("result.json.tmp-"), std::string("result.json")}) {
    REQUIRE(fs::exists(folder / file));
  }
  REQUIRE(fs::exists(folder / ("b.tmp-" + std::to_string(ended))));
}

TEST_CASE("folder lock: its file is told from others' of that name") {
  const TemporaryFolder folder;
  const auto holds = [&](const std::string& text) {
    write_file(folder / "lock", text);
    return lock_file_in(folder.path());
  };
  REQUIRE(lock_file_in(folder.path()) == LockFile::missing);
  REQUIRE(lock_file_in(folder / "nowhere") == LockFile::missing);
  REQUIRE(holds("") == LockFile::empty);
  REQUIRE(holds("123\n") == LockFile::of_earlier_version);
  for (const char* text : {"mine", " transformer\n", "12 mine\n", "12", "12 transformers\n"}) {
    REQUIRE(holds(text) == LockFile::foreign);
  }
  fs::remove(folder / "lock");
  mark_folder(folder.path());
  REQUIRE(lock_file_in(folder.path()) == LockFile::ours);
  { const FolderLock lock(folder.path()); }
  REQUIRE(lock_file_in(folder.path()) == LockFile::ours);
  const std::string held = read_file(folder / "lock");
  REQUIRE_THAT(held, StartsWith(std::to_string(getpid()) + " transformer\n\n"));
  mark_folder(folder.path());
  REQUIRE(read_file(folder / "lock") == held);
  // A process that is killed while it writes over a longer one.
  REQUIRE(holds("12 transformer\nmer\n") == LockFile::ours);
  fs::remove(folder / "lock");
  fs::create_symlink("elsewhere", folder / "lock");
  REQUIRE(lock_file_in(folder.path()) == LockFile::foreign);
  REQUIRE_THROWS_AS(mark_folder(folder.path()), Failure);
}

TEST_CASE("folder lock: a pipe of its name holds nothing, and nobody is waited for") {
  const TemporaryFolder folder;
  REQUIRE(mkfifo((folder / "lock").c_str(), 0600) == 0);
  REQUIRE_FALSE(is_locked(folder.path()));
  REQUIRE(lock_file_in(folder.path()) == LockFile::foreign);
}
