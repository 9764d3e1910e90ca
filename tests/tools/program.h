#pragma once

#include <string>
#include <vector>

// The program as a user starts it.
struct Outcome {
  int code = 0;  // 128 + signal where one ended it
  std::string out;
  std::string err;
};

// Runs `transformer` with these words, one thread, in the repository's folder. `input` is its
// standard input; `before` is shell code that stands before it: "ulimit -f 10 &&", "timeout 2".
Outcome run_program(const std::vector<std::string>& words, const std::string& input = "",
                    const std::string& before = "");

// For `before`: sends the program this signal once the shell's `test` holds, "[ -s FILE ]". The
// program's standard output is /proc/$$/fd/1 there, its standard error /proc/$$/fd/2.
std::string signalled_once(const std::string& signal, const std::string& test);
