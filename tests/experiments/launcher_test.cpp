#include "experiments/launcher.h"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>
#include <thread>

#include "experiments/run_log.h"
#include "tests/catch.h"
#include "tests/temporary_folder.h"
#include "transformer/error.h"
#include "transformer/files.h"

using namespace transformer;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

namespace {

class LauncherFolder : public TemporaryFolder {
 public:
  Program shell(const std::string& text) const {
    return {.file = "/bin/sh", .arguments = {"-c", text}, .log = *this / "log"};
  }
};

bool eventually(const std::function<bool()>& holds) {
  for (int i = 0; i < 6000; ++i) {
    if (holds()) return true;
    std::this_thread::sleep_for(10ms);
  }
  return false;
}

}  // namespace

TEST_CASE(
    "launcher: output of both kinds is appended to the log, and the environment is added to") {
  const LauncherFolder folder;
  Launcher launcher;
  Program program = folder.shell("echo $0 $GREETING; echo $HOME >&2; read line || exit 3");
  program.environment = {{"GREETING", "a=b c"}, {"HOME", "/nowhere"}};
  for (int i = 0; i < 2; ++i) {
    const pid_t pid = launcher.start(program);
    const auto ended = launcher.wait(60s);
    REQUIRE(ended);
    REQUIRE(ended->pid == pid);
    REQUIRE(ended->code == 3);  // its standard input is empty
    REQUIRE(ended->signal == 0);
  }
  REQUIRE(read_file(folder / "log") == "/bin/sh a=b c\n/nowhere\n/bin/sh a=b c\n/nowhere\n");
  REQUIRE_FALSE(launcher.wait(0s));
}

TEST_CASE("launcher: a signal reaches what the program started, too") {
  const LauncherFolder folder;
  Launcher launcher;
  launcher.start(folder.shell("sleep 60 & echo $! > " + (folder / "pid").string() + "; wait"));
  REQUIRE(
      eventually([&] { return fs::exists(folder / "pid") && fs::file_size(folder / "pid") > 0; }));
  const pid_t grandchild = std::stoi(read_file(folder / "pid"));
  launcher.send(SIGTERM);
  const auto ended = launcher.wait(60s);
  REQUIRE(ended);
  REQUIRE(ended->signal == SIGTERM);
  // Gone, or waiting for whoever is the parent of orphans to take note.
  REQUIRE(eventually([&] {
    if (kill(grandchild, 0) != 0) return true;
    const std::string stat = read_file("/proc/" + std::to_string(grandchild) + "/stat");
    return stat.find(") Z ") != std::string::npos;
  }));
}

TEST_CASE("launcher: a program ends with the process that started it") {
  const LauncherFolder folder;
  const std::string trap = "trap 'echo told > " + (folder / "told").string() + "; exit 0' TERM; ";
  const std::string ready = "echo ready > " + (folder / "ready").string() + "; ";
  const pid_t parent = fork();
  if (parent == 0) {
    Launcher* launcher = new Launcher;  // never destroyed: this process is killed
    launcher->start(folder.shell(trap + ready + "while :; do sleep 0.01; done"));
    while (true) pause();
  }
  REQUIRE(eventually([&] { return fs::exists(folder / "ready"); }));
  kill(parent, SIGKILL);
  waitpid(parent, nullptr, 0);
  REQUIRE(eventually([&] { return fs::exists(folder / "told"); }));
}

TEST_CASE("launcher: what cannot be started says why") {
  const LauncherFolder folder;
  Launcher launcher;
  REQUIRE_THROWS_WITH(
      launcher.start({.file = folder / "none", .arguments = {}, .log = folder / "log"}),
      (folder / "none").string() + ": cannot start: No such file or directory");
  REQUIRE_THROWS_WITH(
      launcher.start({.file = "/bin/sh", .arguments = {}, .log = folder / "no/log"}),
      (folder / "no/log").string() + ": cannot write: No such file or directory");
}

TEST_CASE("run log: the last line that says something, and the last whole line of the metrics") {
  const LauncherFolder folder;
  const fs::path log = folder / "log";
  REQUIRE(last_line(log, 0).empty());
  write_file(log, "first\nstep 1\rstep 2\x1b[0m\n\n  \n");
  REQUIRE(last_line(log, 0) == "step 2[0m");
  REQUIRE(last_line(log, 1000).empty());
  write_file(log, std::string(100000, 'x') + "\nend");
  REQUIRE(last_line(log, 6) == "end");

  const fs::path metrics = folder / "metrics.jsonl";
  REQUIRE_FALSE(last_progress(metrics));
  write_file(metrics,
             "{\"step\": 50, \"loss\": 4.5}\n{\"step\": 100, \"loss\": 3.25}\n{\"step\": 15");
  REQUIRE(last_progress(metrics)->step == 100);
  REQUIRE(last_progress(metrics)->loss == 3.25);
  REQUIRE_FALSE(last_progress(metrics)->perplexity);
  write_file(metrics,
             "{\"step\": 50, \"valid_perplexity\": 9}\n{\"step\": 50, \"loss\": 4.5, "
             "\"tokens_per_second\": 70}\n{\"step\": 90, \"valid_perplexity\": 8}\n");
  const auto seen = last_progress(metrics);
  REQUIRE(seen->step == 50);
  REQUIRE(seen->loss == 4.5);
  REQUIRE(seen->tokens_per_second == 70.0);
  REQUIRE(seen->perplexity == 8.0);
  write_file(metrics, "{\"step\": 50, \"loss\": null}\n");
  REQUIRE_FALSE(last_progress(metrics));
  write_file(metrics, "nonsense\n");
  REQUIRE_FALSE(last_progress(metrics));
}
