#include "experiments/other_program.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "transformer/error.h"

namespace transformer {

namespace {

// What a program writes goes into a file: it never waits for a reader.
class Heard {
 public:
  Heard() : file_(std::tmpfile(), &std::fclose) {
    if (!file_) throw Failure(std::string("no temporary file: ") + std::strerror(errno));
  }
  int descriptor() const { return fileno(file_.get()); }
  std::string text() const {
    std::string all;
    std::array<char, 4096> part{};
    std::rewind(file_.get());
    while (const size_t count = std::fread(part.data(), 1, part.size(), file_.get())) {
      all.append(part.data(), count);
    }
    return all;
  }

 private:
  std::unique_ptr<FILE, int (*)(FILE*)> file_;
};

}  // namespace

Answer ask(const std::string& program, const std::vector<std::string>& arguments) {
  std::vector<std::string> words = arguments;
  words.insert(words.begin(), program);
  std::vector<char*> argv;
  for (auto& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);

  const Heard out, err;
  posix_spawn_file_actions_t streams;
  posix_spawn_file_actions_init(&streams);
  posix_spawn_file_actions_addopen(&streams, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&streams, out.descriptor(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&streams, err.descriptor(), STDERR_FILENO);
  pid_t pid = 0;
  const int error = posix_spawnp(&pid, program.c_str(), &streams, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&streams);
  if (error != 0) throw Failure(program + ": cannot start: " + std::strerror(error));
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return {code, out.text(), err.text()};
}

}  // namespace transformer
