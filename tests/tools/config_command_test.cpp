#include "tests/catch.h"
#include "tests/tools/program.h"
#include "transformer/config.h"

using namespace transformer;
using Catch::Matchers::Contains;

namespace {

const std::string kPresets = "configs/presets/";

Json difference(const std::string& left, const std::string& right) {
  const auto ran = run_program({"config", "--diff", kPresets + left, kPresets + right, "--json"});
  INFO(ran.err);
  REQUIRE(ran.code == 0);
  return parse_json(ran.out, "difference");
}

}  // namespace

TEST_CASE("config command: the presets differ in what the programs' constants do", "[e2e]") {
  REQUIRE(difference("paper-2017.json", "../base.json").empty());
  const Json v3 = difference("t2t-v2.json", "t2t-v3.json");
  REQUIRE(v3 == Json::parse(R"([{"key": "training.beta2", "there": 0.98, "now": 0.997}])"));
  const Json big = difference("paper-2017.json", "paper-2017-big.json");
  std::vector<std::string> keys;
  for (const auto& each : big) keys.push_back(each["key"].get<std::string>());
  REQUIRE(keys == std::vector<std::string>{"model.d_model", "model.d_ff", "model.h",
                                           "model.kv_heads", "model.P_drop", "training.train_steps",
                                           "training.average_last"});
}

TEST_CASE("config command: differences as a table, overrides being the second's", "[e2e]") {
  const auto ran = run_program({"config", "--diff", kPresets + "paper-2017.json",
                                kPresets + "t2t-v2.json", "training.factor=1"});
  INFO(ran.err);
  REQUIRE(ran.code == 0);
  REQUIRE_THAT(ran.out, Contains("model.norm_placement   \"post\"") &&
                            Contains("training.warmup_steps  4000") && !Contains("factor"));
  const auto refused = run_program({"config", "--diff", kPresets + "t2t-v2.json"});
  REQUIRE(refused.code == 2);
  REQUIRE_THAT(refused.err, Contains("--diff: expected two configs"));
  REQUIRE(run_program({"config", "configs/base.json", "configs/mini.json"}).code == 2);
}
