#include "tools/commands/commands.h"
#include "tools/commands/data_commands.h"
#include "tools/commands/subcommands.h"

namespace transformer {

int data_command(int argc, char** argv) {
  static const Subcommands subcommands = {
      .command = "transformer data",
      .purpose = "Makes and prepares parallel text.",
      .kind = "subcommand",
      .usage = "[options]",
      .all = {{"generate", "write a generated language pair", data_generate_command},
              {"prepare", "clean and binarise the text of a config", data_prepare_command},
              {"vocabulary", "learn word-pieces", data_vocabulary_command}},
      .hint = "transformer data SUBCOMMAND --help says more.",
      .example = "transformer data generate --out data/generated"};
  return run_one(subcommands, argc, argv);
}

}  // namespace transformer
