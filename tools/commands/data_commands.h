#pragma once

namespace transformer {

// The subcommands of `transformer data`, each in the file of its name. argv[0] is the subcommand's
// name.
int data_generate_command(int argc, char** argv);
int data_prepare_command(int argc, char** argv);
int data_vocabulary_command(int argc, char** argv);

}  // namespace transformer
