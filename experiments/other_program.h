#pragma once

#include <string>
#include <vector>

namespace transformer {

struct Answer {
  int code = 0;  // as exited with; 128 + signal where one ended it
  std::string out;
  std::string err;
};

// Runs a program that is looked for in PATH, without a shell, and waits for its end. Throws Failure
// with the system's reason where it cannot be started.
Answer ask(const std::string& program, const std::vector<std::string>& arguments);

}  // namespace transformer
