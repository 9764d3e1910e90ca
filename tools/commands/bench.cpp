#include <iostream>
#include <string>
#include <vector>

#include "tools/commands/bench_commands.h"
#include "tools/commands/bench_decode.h"
#include "tools/commands/commands.h"
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
    {"decode", "translation: beam search, where the time goes, and the limit",
     bench_decode_command},
    {"gemm", "the matrix products of a training step, one by one", bench_gemm_command},
    {"train", "training steps: speed, where the time goes, and the limit", bench_train_command},
};

void print_help(std::ostream& out) {
  out << "Measures speed on this machine.\n\nUsage:\n  transformer bench SUBCOMMAND [options]\n\n"
         "Subcommands:\n";
  for (const auto& subcommand : kSubcommands) {
    out << "  " << subcommand.name << std::string(12 - std::string(subcommand.name).size(), ' ')
        << subcommand.summary << "\n";
  }
  out << "\ntransformer bench SUBCOMMAND --help says more.\n\nExample:\n"
         "  transformer bench train configs/base.json model.V=37000\n";
}

}  // namespace

int bench_command(int argc, char** argv) {
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
  throw UserError("bench " + name + ": unknown subcommand" + nearest_key(name, known));
}

}  // namespace transformer
