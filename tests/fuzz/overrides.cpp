#include <sstream>

#include "experiments/sweep.h"
#include "tests/fuzz/targets.h"

namespace transformer::fuzz {

void overrides(const std::string& bytes) {
  std::vector<std::string> words;
  std::istringstream in(bytes);
  // The system ends a word at a NUL.
  for (std::string line; std::getline(in, line);) words.push_back(line.substr(0, line.find('\0')));
  const auto path = file_with("base.json", R"({"model": {"N": 2, "d_model": 64, "h": 4}})");
  for (const auto& row : load_sweep(path, words).rows) {  // with lists of values
    promise(resolve(row.config) == row.config, "a row's config is resolved");
  }
  load_config(path, words);
}

}  // namespace transformer::fuzz
