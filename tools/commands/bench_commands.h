#pragma once

namespace transformer {

// The subcommands of `transformer bench`, each in the file of its name.
int bench_all_reduce_command(int argc, char** argv);
int bench_data_command(int argc, char** argv);
int bench_train_command(int argc, char** argv);
int bench_gemm_command(int argc, char** argv);

}  // namespace transformer
