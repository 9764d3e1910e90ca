#include "tools/commands/bench_commands.h"
#include "tools/commands/bench_decode.h"
#include "tools/commands/commands.h"
#include "tools/commands/subcommands.h"

namespace transformer {

int bench_command(int argc, char** argv) {
  static const Subcommands subcommands = {
      .command = "transformer bench",
      .purpose = "Measures speed on this machine.",
      .kind = "subcommand",
      .usage = "[options]",
      .all = {{"all-reduce", "sums over all processes: bandwidth and latency",
               bench_all_reduce_command},
              {"data", "reading the training data: opening, planning, batches", bench_data_command},
              {"decode", "translation: beam search, where the time goes, and the limit",
               bench_decode_command},
              {"gemm", "the matrix products of a training step, one by one", bench_gemm_command},
              {"train", "training steps: speed, where the time goes, and the limit",
               bench_train_command}},
      .hint = "transformer bench SUBCOMMAND --help says more.",
      .example = "transformer bench train configs/base.json model.V=37000"};
  return run_one(subcommands, argc, argv);
}

}  // namespace transformer
