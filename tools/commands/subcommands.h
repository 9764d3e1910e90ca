#pragma once

// A command that is one of several, chosen by its first word: the program itself, bench, data,
// inspect.

#include <string>
#include <vector>

namespace transformer {

struct Subcommand {
  const char* name;
  const char* summary;
  int (*run)(int argc, char** argv);  // argv[0] is the name; returns the exit code
  const char* example = nullptr;      // what may follow the name; shown on a line of its own
};

struct Subcommands {
  std::string command;  // how the user got here, such as "transformer bench"
  std::string purpose;  // a sentence
  std::string kind;     // what one of them is called, such as "subcommand"
  std::string usage;    // what may follow its name
  std::vector<Subcommand> all;
  std::string hint;     // sentences below the list
  std::string example;  // a whole command
};

// Runs the one that argv[1] names. Without one prints the list and returns 2; for --help, -h and
// help prints it and returns 0. Throws UserError for a name that is not in the list.
int run_one(const Subcommands& subcommands, int argc, char** argv);

}  // namespace transformer
