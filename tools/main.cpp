#include <torch/version.h>

#include <c10/util/Exception.h>
#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <cxxopts.hpp>
#include <iostream>
#include <new>
#include <string>

#include "tools/commands/commands.h"
#include "tools/commands/subcommands.h"
#include "transformer/diverged.h"
#include "transformer/error.h"
#include "transformer/nn/kernels/cached_memory.h"
#include "transformer/printable.h"
#include "transformer/version.h"

namespace transformer {

namespace {

// Where one of the three is closed, the next file to be opened would take its number, and what is
// written to standard output would go into it. What stands there now can neither be read nor
// written.
void hold_closed_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(stream, F_GETFD) >= 0) continue;
    open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);  // the lowest number free
  }
}

}  // namespace

int run_program(int argc, char** argv) {
  if (argc > 1 && std::string(argv[1]) == "--version") {
    std::cout << "transformer " << kVersion << " (" << kCommit << "), LibTorch " << TORCH_VERSION
              << "\n";
    return 0;
  }
  static const Subcommands commands = {
      .command = "transformer",
      .purpose = "Research on \"Attention Is All You Need\": train, sweep, compare, measure.",
      .kind = "command",
      .usage = "[options] [key=value...]",
      .all = {{"average", "write the mean of several models", average_command},
              {"bench", "measure speed on this machine", bench_command},
              {"bleu", "score translations as sacreBLEU does", bleu_command},
              {"check", "find what is damaged in the folder of a run or a sweep", check_command},
              {"compare", "a sweep's rows side by side, by the values of a key", compare_command},
              {"completion", "print a script that completes commands and keys in a shell",
               completion_command},
              {"config", "print an experiment as resolved", config_command},
              {"data", "make, clean and binarise parallel text; learn a vocabulary", data_command},
              {"evaluate", "perplexity and BLEU of a model on parallel text", evaluate_command},
              {"inspect", "show the paper's quantities, from parameters to attention weights",
               inspect_command},
              {"report", "write a sweep as one page, with charts", report_command},
              {"score", "log-probabilities of given translations", score_command},
              {"serve", "show runs, the paper's quantities and translations on a local page",
               serve_command},
              {"sweep", "run the rows of a table or grid; run again it goes on", sweep_command},
              {"table", "print a sweep's results beside the paper's", table_command},
              {"task", "do one run of a sweep, as Slurm's scripts call it", task_command},
              {"train", "train an experiment, or go on with it", train_command},
              {"translate", "translate standard input to standard output", translate_command},
              {"watch", "show how a sweep goes on, from another terminal", watch_command}},
      .hint = "transformer COMMAND --help says more, with an example.",
      .example = "transformer train configs/mini.json --out runs/mini"};
  return run_one(commands, argc, argv);
}

}  // namespace transformer

int main(int argc, char** argv) {
  // A file that may not grow is a failed write like any other, told in words.
  std::signal(SIGXFSZ, SIG_IGN);
  transformer::hold_closed_streams();
  transformer::use_cached_memory();
  const auto say = [](const std::string& message) {
    constexpr size_t kMost = 4000;
    std::cerr << "transformer: " << transformer::printable(message, kMost) << "\n";
  };
  try {
    const int code = transformer::run_program(argc, argv);
    std::cout.flush();
    if (!std::cout) {
      say("standard output: cannot write");
      return 1;
    }
    return code;
  } catch (const transformer::UserError& error) {
    say(error.what());
    return 2;
  } catch (const cxxopts::exceptions::exception& error) {
    say(error.what());
    return 2;
  } catch (const std::bad_alloc&) {
    say("memory: no more can be had; take a smaller model, batch or beam");
    return 1;
  } catch (const c10::Error& error) {
    std::cerr << "transformer: " << error.what_without_backtrace() << "\n";
    return 1;
  } catch (const transformer::Diverged& diverged) {
    say(diverged.what());
    return transformer::kExitDiverged;
  } catch (const std::exception& error) {
    say(error.what());
    return 1;
  }
}
