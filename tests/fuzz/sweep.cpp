#include "experiments/sweep.h"

#include "tests/fuzz/targets.h"

namespace transformer::fuzz {
namespace fs = std::filesystem;

void sweep(const std::string& bytes) {
  file_with("base.json", R"({"model": {"N": 2, "d_model": 64, "h": 4}})");
  const Sweep read = load_sweep(file_with("sweep.json", bytes));
  for (const auto& row : read.rows) {
    const fs::path place = (fs::path("/sweep") / row.id).lexically_normal();
    promise(place.parent_path() == "/sweep" && place.filename() == row.id, "a row stays within");
  }
  const Sweep again = sweep_from_json(parse_json(text_of(to_json(read)), "as written"), "kept");
  promise(again.rows.size() == read.rows.size(), "a kept sweep has its rows");
  for (size_t i = 0; i < read.rows.size(); ++i) {
    promise(again.rows[i].config == read.rows[i].config, "a kept row has its config");
  }
}

}  // namespace transformer::fuzz
