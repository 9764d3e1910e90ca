#pragma once

#include <cxxopts.hpp>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "transformer/fields.h"

namespace transformer {

// For the help of an option that takes one of these names, "text|markdown|json"; the completion
// reads it there, as it does KEY and COLUMN.
template <NamedEnum E>
std::string choices_of() {
  std::string text;
  for (const char* name : names(E{})) text += (text.empty() ? "" : "|") + std::string(name);
  return text;
}

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

  // Of an option that is declared as text: cxxopts would not name it. Throws UserError with the
  // option, what is allowed and what was given.
  int64_t integer(const std::string& option, int64_t least,
                  int64_t most = std::numeric_limits<int64_t>::max()) const;
  double positive_number(const std::string& option) const;
};

// Parses a command's words; adds --help to its options. `usage` follows the command's name in the
// first line of the help, `example` ends it. With --help the help goes to stdout and nullopt comes
// back. Throws UserError on an unknown option, with what may have been meant, on one without its
// value or given twice, and on fewer or more positional arguments than allowed. Every word with '='
// that does not start with '-' counts as an override if `with_overrides`.
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
