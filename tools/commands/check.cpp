#include "experiments/check.h"

#include <iostream>

#include "tools/commands/arguments.h"
#include "tools/commands/commands.h"
#include "transformer/printable.h"

namespace transformer {

int check_command(int argc, char** argv) {
  cxxopts::Options options("transformer check");
  const auto arguments =
      parse(options,
            {.name = "check",
             .summary = "Holds every file of a run's or a sweep's folder against its checksum and "
                        "prints what is\n"
                        "damaged or lost, a line each. Exits with 1 where something is. Changes "
                        "nothing.",
             .usage = "DIR...",
             .example = "transformer check runs/small",
             .fewest = 1,
             .most = 1000},
            argc, argv);
  if (!arguments) return 0;
  size_t count = 0;
  for (const auto& folder : arguments->positional) {
    for (const auto& fault : faults_of(folder)) {
      constexpr size_t kMost = 1000;
      std::cout << printable(fault, kMost) << "\n";
      ++count;
    }
  }
  std::cerr << (count == 0 ? "all is sound"
                           : "train or sweep there again: what can be made again is")
            << "\n";
  return count == 0 ? 0 : 1;
}

}  // namespace transformer
