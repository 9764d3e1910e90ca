#pragma once

#include <cxxopts.hpp>
#include <optional>
#include <string>
#include <vector>

namespace transformer {

// What stands after a command's name: its options, its positional arguments, and key=value
// overrides.
struct Arguments {
  cxxopts::ParseResult options;
  std::vector<std::string> positional;
  std::vector<std::string> overrides;

  bool has(const std::string& option) const { return options.count(option) > 0; }
  template <class T>
  T get(const std::string& option) const {
    return options[option].as<T>();
  }
};

// Parses a command's words; adds --help to its options. `usage` follows the command's name in the
// first line of the help, `example` ends it. With --help the help goes to stdout and nullopt comes
// back. Throws cxxopts' exceptions on a wrong option and UserError on fewer or more positional
// arguments than allowed. Every word with '=' that does not start with '-' counts as an override if
// `with_overrides`.
struct CommandLine {
  std::string name;
  std::string summary;
  std::string usage;
  std::string example;
  size_t fewest = 0;
  size_t most = 0;
  bool with_overrides = false;
};
std::optional<Arguments> parse(cxxopts::Options& options, const CommandLine& line, int argc,
                               char** argv);

}  // namespace transformer
