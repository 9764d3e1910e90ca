#include "experiments/record.h"
#include "tests/fuzz/targets.h"
#include "transformer/config.h"

namespace transformer::fuzz {

void result(const std::string& bytes) {
  const Result read = read_result(file_with("result.json", bytes));
  const auto again = from_json<Result>(parse_json(text_of(to_json(read)), "as written"));
  promise(to_json(again) == to_json(read), "a result reads back as it was written");
  resolve(from_json<Config>(read.config));
}

}  // namespace transformer::fuzz
