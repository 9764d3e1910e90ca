#include "tools/commands/subcommands.h"

#include <algorithm>
#include <cctype>
#include <iostream>

#include "transformer/error.h"
#include "transformer/fields.h"

namespace transformer {

namespace {

std::string upper_case(std::string word) {
  for (char& c : word) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return word;
}

void print_list(const Subcommands& subcommands, std::ostream& out) {
  const auto& [command, purpose, kind, usage, all, hint, example] = subcommands;
  out << purpose << "\n\nUsage:\n  " << command << " " << upper_case(kind) << " " << usage << "\n\n"
      << static_cast<char>(std::toupper(kind[0])) << kind.substr(1) << "s:\n";
  size_t width = 0;
  for (const auto& one : all) width = std::max(width, std::string(one.name).size() + 2);
  const auto last_word = command.substr(command.find_last_of(' ') + 1);
  for (const auto& one : all) {
    const std::string name = one.name;
    out << "  " << name << std::string(width - name.size(), ' ') << one.summary << "\n";
    if (one.example == nullptr) continue;
    out << std::string(width + 2, ' ') << last_word << " " << name << " " << one.example << "\n";
  }
  out << "\n" << hint << "\n\nExample:\n  " << example << "\n";
}

}  // namespace

int run_one(const Subcommands& subcommands, int argc, char** argv) {
  const std::string name = argc > 1 ? argv[1] : "";
  if (name == "help" && argc > 2) {  // help COMMAND, as COMMAND --help
    std::string help = "--help";
    char* words[] = {argv[0], argv[2], help.data(), nullptr};
    return run_one(subcommands, 3, words);
  }
  if (name.empty() || name == "--help" || name == "-h" || name == "help") {
    print_list(subcommands, name.empty() ? std::cerr : std::cout);
    return name.empty() ? 2 : 0;
  }
  std::vector<std::string> known;
  for (const auto& one : subcommands.all) {
    if (name == one.name) return one.run(argc - 1, argv + 1);
    known.emplace_back(one.name);
  }
  const auto group = subcommands.command.find(' ');
  throw UserError((group == std::string::npos ? "" : subcommands.command.substr(group + 1) + " ") +
                  fields::shown_name(name) + ": unknown " + subcommands.kind +
                  nearest_key(name, known));
}

}  // namespace transformer
