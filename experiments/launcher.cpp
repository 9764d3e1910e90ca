#include "experiments/launcher.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "transformer/error.h"

namespace transformer {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

namespace {

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (auto& text : texts) all.push_back(text.data());
  all.push_back(nullptr);
  return all;
}

std::vector<std::string> environment_with(const std::map<std::string, std::string>& changes) {
  std::vector<std::string> all;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    if (!changes.contains(text.substr(0, text.find('=')))) all.push_back(text);
  }
  for (const auto& [name, value] : changes) all.push_back(name + "=" + value);
  return all;
}

// In the child, between fork and exec: system calls only. Returns the error that stopped it.
int become(const char* file, char** arguments, char** environment, int log, pid_t parent) {
  setpgid(0, 0);
  if (prctl(PR_SET_PDEATHSIG, SIGTERM) != 0) return errno;
  if (getppid() != parent) _exit(143);  // it ended before we asked to be told
  const int nothing = open("/dev/null", O_RDONLY);
  if (nothing < 0 || dup2(nothing, STDIN_FILENO) < 0) return errno;
  if (dup2(log, STDOUT_FILENO) < 0 || dup2(log, STDERR_FILENO) < 0) return errno;
  if (nothing > STDERR_FILENO) close(nothing);
  execve(file, arguments, environment);
  return errno;
}

class Descriptor {
 public:
  explicit Descriptor(int value) : value_(value) {}
  ~Descriptor() { reset(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  operator int() const { return value_; }  // NOLINT: stands where a descriptor does
  void reset() {
    if (value_ >= 0) close(value_);
    value_ = -1;
  }

 private:
  int value_;
};

}  // namespace

Launcher::~Launcher() {
  constexpr auto kPatience = std::chrono::seconds(10);  // to write a checkpoint
  send(SIGTERM);
  const auto deadline = steady_clock::now() + kPatience;
  while (!running_.empty() && steady_clock::now() < deadline) wait(milliseconds(100));
  send(SIGKILL);
  while (!running_.empty()) wait(milliseconds(100));
}

pid_t Launcher::start(const Program& program) {
  const auto fail = [](const std::filesystem::path& path, const char* what, int error) {
    throw Failure(path.string() + ": " + what + ": " + std::strerror(error));
  };
  const Descriptor log(open(program.log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666));
  if (log < 0) fail(program.log, "cannot write", errno);
  // An exec that works closes the pipe; one that does not writes why.
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) fail(program.file, "cannot start", errno);
  const Descriptor reading(ends[0]);
  Descriptor writing(ends[1]);

  std::vector<std::string> arguments = program.arguments;
  arguments.insert(arguments.begin(), program.file.string());
  auto variables = environment_with(program.environment);
  auto argument_pointers = pointers(arguments);
  auto variable_pointers = pointers(variables);
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid < 0) fail(program.file, "cannot start", errno);
  if (pid == 0) {
    const int error = become(program.file.c_str(), argument_pointers.data(),
                             variable_pointers.data(), log, parent);
    [[maybe_unused]] const auto told = write(writing, &error, sizeof error);
    _exit(127);
  }
  setpgid(pid, pid);  // here too: whoever is first, it is done before send()
  writing.reset();
  int error = 0;
  ssize_t count = 0;
  do {
    count = read(reading, &error, sizeof error);
  } while (count < 0 && errno == EINTR);
  if (count != 0) {
    while (waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
    }
    fail(program.file, "cannot start", error);
  }
  running_.push_back(pid);
  return pid;
}

std::optional<Ended> Launcher::ended() {
  for (auto pid = running_.begin(); pid != running_.end(); ++pid) {
    int status = 0;
    if (waitpid(*pid, &status, WNOHANG) != *pid) continue;
    const Ended result{*pid, WIFEXITED(status) ? WEXITSTATUS(status) : 0,
                       WIFSIGNALED(status) ? WTERMSIG(status) : 0};
    running_.erase(pid);
    return result;
  }
  return std::nullopt;
}

std::optional<Ended> Launcher::wait(milliseconds timeout) {
  constexpr timespec kStep{.tv_sec = 0, .tv_nsec = 10'000'000};
  const auto deadline = steady_clock::now() + timeout;
  while (true) {
    if (const auto result = ended()) return result;
    if (steady_clock::now() >= deadline || nanosleep(&kStep, nullptr) != 0) return std::nullopt;
  }
}

void Launcher::send(int signal) const {
  for (const pid_t pid : running_) kill(-pid, signal);
}

void Launcher::send(int signal, pid_t pid) const {
  if (std::ranges::find(running_, pid) != running_.end()) kill(-pid, signal);
}

}  // namespace transformer
