#include "experiments/sweep.h"
#include "tests/fuzz/targets.h"

namespace transformer::fuzz {

void overrides(const std::string& bytes) {
  const auto words = words_of(bytes);
  const auto path = file_with("base.json", R"({"model": {"N": 2, "d_model": 64, "h": 4}})");
  for (const auto& row : load_sweep(path, words).rows) {  // with lists of values
    promise(resolve(row.config) == row.config, "a row's config is resolved");
  }
  load_config(path, words);
}

}  // namespace transformer::fuzz
