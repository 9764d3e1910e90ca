#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace transformer {

struct Program {
  std::filesystem::path file;
  std::vector<std::string> arguments;                // without the program's name
  std::filesystem::path log;                         // standard output and error are appended here
  std::map<std::string, std::string> environment{};  // over this process's own
};

struct Ended {
  pid_t pid = 0;
  int code = 0;    // as exited with; where a signal ended it, 0
  int signal = 0;  // that ended it, or 0
};

// Starts processes and waits for them. Each is a process group of its own, so that a Ctrl-C at the
// terminal is passed on by us and not twice, and ends with this process however this one ends.
class Launcher {
 public:
  Launcher() = default;
  ~Launcher();  // asks what still runs to end, and kills what has not after some seconds
  Launcher(const Launcher&) = delete;
  Launcher& operator=(const Launcher&) = delete;

  // Throws Failure with the system's reason where the program cannot be started.
  pid_t start(const Program& program);

  // The next one to end. Empty when none has within `timeout`, or as soon as this process got a
  // signal.
  std::optional<Ended> wait(std::chrono::milliseconds timeout);

  // To all that run, and to what they started; or to one.
  void send(int signal) const;
  void send(int signal, pid_t pid) const;

 private:
  std::optional<Ended> ended();

  std::vector<pid_t> running_;
};

}  // namespace transformer
