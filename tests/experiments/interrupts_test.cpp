#include "experiments/interrupts.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "tests/catch.h"
#include "tests/temporary_folder.h"
#include "transformer/files.h"

using namespace transformer;

TEST_CASE("interrupts: signals are counted while one lives, and the first decides the exit code") {
  const auto before = std::signal(SIGTERM, SIG_IGN);
  {
    const Interrupts interrupts(Interrupts::Second::is_counted);
    REQUIRE_FALSE(interrupts.asked());
    REQUIRE(interrupts.exit_code() == 0);
    raise(SIGTERM);
    raise(SIGINT);
    REQUIRE(interrupts.asked());
    REQUIRE(interrupts.count() == 2);
    REQUIRE(interrupts.signal() == SIGTERM);
    REQUIRE(interrupts.exit_code() == 143);
  }
  raise(SIGTERM);  // ignored again
  std::signal(SIGTERM, before);
}

TEST_CASE("interrupts: SIGUSR1 asks, and SIGTERM after it, as Slurm sends them, is no second one") {
  const pid_t child = fork();
  if (child == 0) {
    const Interrupts interrupts(Interrupts::Second::ends_the_process);
    raise(SIGUSR1);
    raise(SIGUSR1);
    raise(SIGTERM);
    _exit(interrupts.count() == 1 && interrupts.asked() ? interrupts.exit_code() : 1);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  REQUIRE(WEXITSTATUS(status) == 128 + SIGUSR1);
}

TEST_CASE("interrupts: where it is asked for, the second signal ends the process") {
  const pid_t child = fork();
  if (child == 0) {
    const Interrupts interrupts(Interrupts::Second::ends_the_process);
    raise(SIGINT);
    if (interrupts.asked()) raise(SIGTERM);
    _exit(1);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  REQUIRE(WEXITSTATUS(status) == 143);
}

TEST_CASE("interrupts: the first signal is answered on standard error") {
  const TemporaryFolder folder;
  const auto answers = folder / "answers";
  const pid_t child = fork();
  if (child == 0) {
    dup2(open(answers.c_str(), O_WRONLY | O_CREAT, 0600), STDERR_FILENO);
    const Interrupts interrupts(Interrupts::Second::is_counted);
    interrupts.announce("stopping soon");
    interrupts.announce("stopping at once");
    raise(SIGINT);
    raise(SIGINT);
    _exit(0);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(read_file(answers) == "transformer: stopping at once\n");
}
