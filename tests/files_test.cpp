#include "transformer/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <fstream>
#include <future>
#include <iterator>

#include "tests/catch.h"
#include "tests/temporary_folder.h"
#include "transformer/error.h"
#include "transformer/json.h"

using namespace transformer;
using Catch::Matchers::Contains;
namespace fs = std::filesystem;

namespace {

auto files_in(const fs::path& folder) {
  return std::distance(fs::directory_iterator(folder), fs::directory_iterator());
}

}  // namespace

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

TEST_CASE("files: a symbolic link stays, and what it leads to is written") {
  const TemporaryFolder folder;
  fs::create_directory(folder / "there");
  write_file(folder / "there/text", "old");
  fs::create_symlink("there/text", folder / "first");
  fs::create_symlink(folder / "first", folder / "second");
  fs::create_symlink("there/new", folder / "dangling");
  const auto before = fs::hard_link_count(folder / "there/text");
  fs::create_hard_link(folder / "there/text", folder / "kept");
  write_file(folder / "second", "new");
  write_file(folder / "dangling", "made");
  REQUIRE(fs::is_symlink(folder / "first"));
  REQUIRE(fs::is_symlink(folder / "second"));
  REQUIRE(read_file(folder / "there/text") == "new");
  REQUIRE(read_file(folder / "there/new") == "made");
  REQUIRE(read_file(folder / "kept") == "old");  // replaced whole, not written into
  REQUIRE(fs::hard_link_count(folder / "there/text") == before);
  REQUIRE(files_in(folder / "there") == 2);
  fs::create_symlink("loop", folder / "loop");
  REQUIRE_THROWS_WITH(write_file(folder / "loop", "x"), Contains("Too many levels"));
}

TEST_CASE("files: a pipe and an open descriptor are written into, a folder is refused") {
  const TemporaryFolder folder;
  const fs::path pipe = folder / "pipe";
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  const std::string long_text(300'000, 'x');  // more than a pipe holds
  auto reader = std::async(std::launch::async, [&] {
    std::ifstream in(pipe, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
  });
  write_file(pipe, long_text);
  REQUIRE(reader.get() == long_text);
  REQUIRE(fs::is_fifo(pipe));

  // As the shell's `> log`: what others wrote there stays, and so does the file.
  const fs::path log = folder / "log";
  const int descriptor = open(log.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  REQUIRE(write(descriptor, "before ", 7) == 7);
  write_file("/dev/fd/" + std::to_string(descriptor), "text");
  REQUIRE(write(descriptor, " after", 6) == 6);
  close(descriptor);
  REQUIRE(read_file(log) == "before text after");

  REQUIRE_THROWS_AS(write_file(folder.path(), "x"), UserError);
  REQUIRE_THROWS_WITH(write_file(folder.path(), "x"),
                      Contains("expected a file to write; it is a"));
  REQUIRE(files_in(folder.path()) == 2);
  const fs::path null = folder / "null";
  if (mknod(null.c_str(), S_IFCHR | 0600, makedev(1, 3)) != 0) return;  // root alone may
  if (!std::ofstream(null)) return;  // nor are devices of use everywhere
  write_file(null, "x");
  REQUIRE(fs::is_character_file(null));
  REQUIRE(files_in(folder.path()) == 3);
}

TEST_CASE("files: several are written, or none") {
  const TemporaryFolder folder;
  const std::vector<fs::path> paths = {folder / "a", folder / "b"};
  const auto write_both = [&](const std::string& text, bool fails) {
    write_files(paths, [&](const std::vector<std::ostream*>& streams) {
      for (auto* stream : streams) *stream << text;
      if (fails) throw Failure("half-way");
    });
  };
  REQUIRE_THROWS_AS(write_both("1", true), Failure);
  REQUIRE(fs::is_empty(folder.path()));
  write_both("1", false);
  REQUIRE_THROWS_AS(write_both("2", true), Failure);
  for (const auto& path : paths) REQUIRE(read_file(path) == "1");
  // Where one cannot have its name, the last is not there to vouch for them.
  fs::remove(paths[0]);
  REQUIRE_THROWS_AS(
      write_files(paths,
                  [&](const std::vector<std::ostream*>&) { fs::create_directory(paths[0]); }),
      Failure);
  REQUIRE(files_in(folder.path()) == 1);
}

TEST_CASE("files: an output is checked before the work") {
  const TemporaryFolder folder;
  const fs::path file = folder / "file";
  REQUIRE_NOTHROW(check_output(file, {}));
  REQUIRE(fs::is_empty(folder.path()));
  write_file(file, "text");
  fs::create_symlink("file", folder / "link");
  for (const char* name : {"file", "link", "./file"}) {
    INFO(name);
    const fs::path path = folder / name;
    REQUIRE_THROWS_AS(check_output(path, {}), UserError);
    REQUIRE_THROWS_WITH(check_output(path, {}), Contains("exists; --force writes over it"));
    REQUIRE_NOTHROW(check_output(path, {.force = true}));
    REQUIRE_THROWS_WITH(check_output(path, {.force = true, .inputs = {file}}),
                        Contains("is one of the files that it would be made from"));
  }
  REQUIRE_THROWS_WITH(check_output(folder / "none/file", {}),
                      Contains("cannot write: No such file"));
  REQUIRE_NOTHROW(check_output(folder / "none/file", {.makes_folder = true}));
  REQUIRE_NOTHROW(check_output("/dev/null", {}));
  REQUIRE_THROWS_AS(check_output("/dev/null", {.content = Content::binary, .force = true}),
                    UserError);
  REQUIRE_THROWS_AS(check_output(folder.path(), {.force = true}), UserError);
  REQUIRE(read_file(file) == "text");
}

TEST_CASE("files: what a killed writer left of a file goes when the file is written again") {
  const TemporaryFolder folder;
  const std::string gone = "999999999";  // more than process ids reach
  for (const std::string& name : {"a.tmp-" + gone, "b.tmp-" + gone, std::string("a.tmp-old")}) {
    write_file(folder / name, "half");
  }
  write_file(folder / "a", "whole");
  REQUIRE_FALSE(fs::exists(folder / ("a.tmp-" + gone)));
  REQUIRE(fs::exists(folder / ("b.tmp-" + gone)));
  REQUIRE(fs::exists(folder / "a.tmp-old"));
}
