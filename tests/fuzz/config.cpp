#include "transformer/config.h"

#include "tests/fuzz/targets.h"

namespace transformer::fuzz {

void config(const std::string& bytes) {
  file_with("base.json", R"({"model": {"N": 2, "d_model": 64, "h": 4}})");
  const auto path = file_with("config.json", bytes);
  const Config read = resolve(read_config(path), path.string());
  const Json json = parse_json(text_of(to_json(read)), "as written");
  promise(resolve(from_json<Config>(json)) == read, "a config reads back as it was written");
}

}  // namespace transformer::fuzz
