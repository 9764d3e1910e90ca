#include <iostream>
#include <string>
#include <vector>

#include "tools/commands/commands.h"
#include "tools/commands/data_commands.h"
#include "transformer/error.h"
#include "transformer/fields.h"

namespace transformer {

namespace {

struct Subcommand {
  const char* name;
  const char* summary;
  int (*run)(int argc, char** argv);
};

const std::vector<Subcommand> kSubcommands = {
    {"generate", "write a generated language pair", data_generate_command},
    {"prepare", "clean and binarise the text of a config", data_prepare_command},
    {"vocabulary", "learn word-pieces", data_vocabulary_command},
};

void print_help(std::ostream& out) {
  out << "Makes and prepares parallel text.\n\nUsage:\n  transformer data SUBCOMMAND [options]\n\n"
         "Subcommands:\n";
  for (const auto& subcommand : kSubcommands) {
    out << "  " << subcommand.name << std::string(12 - std::string(subcommand.name).size(), ' ')
        << subcommand.summary << "\n";
  }
  out << "\ntransformer data SUBCOMMAND --help says more.\n\nExample:\n"
         "  transformer data generate --out data/generated\n";
}

}  // namespace

int data_command(int argc, char** argv) {
  const std::string name = argc > 1 ? argv[1] : "";
  if (name.empty() || name == "--help" || name == "-h") {
    print_help(name.empty() ? std::cerr : std::cout);
    return name.empty() ? 2 : 0;
  }
  std::vector<std::string> known;
  for (const auto& subcommand : kSubcommands) {
    if (name == subcommand.name) return subcommand.run(argc - 1, argv + 1);
    known.emplace_back(subcommand.name);
  }
  throw UserError("data " + fields::shown_name(name) + ": unknown subcommand" +
                  nearest_key(name, known));
}

}  // namespace transformer
