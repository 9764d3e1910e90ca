#include <cmath>
#include <sstream>

#include "tests/catch.h"
#include "tests/tools/workplace.h"
#include "transformer/json.h"

using namespace transformer;
using Catch::Matchers::Contains;

namespace {

// `transformer inspect WORDS`.
Outcome inspect(const std::string& words) {
  std::vector<std::string> all = {"inspect"};
  std::istringstream in(words);
  for (std::string word; in >> word;) all.push_back(word);
  return run_program(all);
}

Json figures(const std::string& words) {
  const auto outcome = inspect(words + " --json");
  INFO(words << ": " << outcome.err);
  REQUIRE(outcome.code == 0);
  return parse_json(outcome.out, "output");
}

const std::vector<std::string> kTopics = {
    "parameters", "schedule",  "label-smoothing", "kv-cache", "complexity",
    "flops",      "positions", "embedding-scale", "masks",    "shapes",
    "signal",     "attention", "scaling"};

}  // namespace

TEST_CASE("inspect: the help lists every topic with an example", "[e2e]") {
  const auto help = inspect("--help");
  REQUIRE(help.code == 0);
  for (const auto& topic : kTopics) {
    REQUIRE_THAT(help.out, Contains("\n  " + topic + " ") && Contains("inspect " + topic + " "));
    const auto own = inspect(topic + " --help");
    REQUIRE(own.code == 0);
    REQUIRE_THAT(own.out, Contains("Usage:\n  transformer inspect " + topic) &&
                              Contains("--json") &&
                              Contains("Example:\n  transformer inspect " + topic));
  }
  REQUIRE(inspect("").code == 2);
}

TEST_CASE("inspect: parameters of one experiment and of Table 3", "[e2e]") {
  const auto base = figures("parameters configs/base.json");
  REQUIRE(base["total"] == 63045632);
  REQUIRE(base["tied"] == 63045632);
  REQUIRE(base["untied"] == 63045632 + 2 * 37000 * 512);
  const auto table = figures("parameters configs/table3.json model.V=41100");
  REQUIRE(table["rows"].size() == 20);
  REQUIRE(table["rows"][5]["id"] == "B-k16");
  REQUIRE(std::round(table["rows"][5]["total"].get<double>() / 1e6) == 58);
  REQUIRE(table["rows"][5]["paper"] == 58e6);
  REQUIRE(table["vocabularies"]["least"] == 41004);
  REQUIRE(table["vocabularies"]["most"] == 41208);
  REQUIRE(table["vocabularies"]["rows"].size() == 10);
  const auto text = inspect("parameters configs/table3.json");
  REQUIRE_THAT(text.out, Contains("in 10 of 11 rows") && Contains("big (35,368 - 36,344)"));
  REQUIRE_THAT(inspect("parameters configs/base.json").out, Contains("embedding (and output)"));
}

TEST_CASE("inspect: the schedule's peak, and schedules side by side", "[e2e]") {
  const auto rows = figures(
      "schedule configs/base.json training.schedule=noam,constant --steps 1,4000,16000")["rows"];
  REQUIRE(rows.size() == 2);
  REQUIRE(rows[0]["peak"]["step"] == 4000);
  REQUIRE(rows[0]["peak"]["rate"].get<double>() == Approx(6.99e-4).epsilon(1e-3));
  REQUIRE(rows[0]["rates"][0]["rate"].get<double>() == Approx(6.99e-4 / 4000).epsilon(1e-3));
  REQUIRE(rows[0]["rates"][2]["rate"].get<double>() == Approx(6.99e-4 / 2).epsilon(1e-3));
  REQUIRE(rows[1]["peak"]["rate"] == 1e-3);
  REQUIRE_THAT(inspect("schedule configs/base.json").out, Contains("6.988e-04"));
}

TEST_CASE("inspect: closed forms as text and JSON", "[e2e]") {
  const auto smoothing = figures("label-smoothing configs/base.json training.eps_ls=0.1,0")["rows"];
  REQUIRE(smoothing[0]["floor"].get<double>() == Approx(1.377).margin(1e-3));
  REQUIRE(smoothing[1]["perplexity"] == 1.0);
  const auto cache = figures("kv-cache configs/base.json model.kv_heads=8,1");
  REQUIRE(cache["projections_saved"] == 512.5);
  REQUIRE(cache["rows"][0]["bytes_a_token"] == 12288);
  REQUIRE(cache["rows"][1]["bytes_a_token"] == 1536);
  const auto layers = figures("complexity n=70 d=512")["layers"];
  REQUIRE(layers[1]["to_self_attention"].get<double>() == Approx(7.31).margin(0.01));
  const auto flops = figures("flops configs/base.json --hours 12");
  REQUIRE(flops["by_time"].get<double>() == Approx(3.2832e18));
  const double whole = flops["rows"][0]["flops"].get<double>();
  REQUIRE(whole > 5e17);
  REQUIRE(flops["rows"][0]["seconds"].get<double>() == Approx(whole / (8 * 9.5e12)));
  const auto scaling =
      figures("scaling configs/base.json --devices 1,8 --tflops 10 --gigabytes 20 --per-device");
  REQUIRE(scaling["rows"][0]["efficiency"] == 1.0);
  REQUIRE(scaling["rows"][1]["sent_bytes"].get<double>() == Approx(4.0 * 63045632 * 14 / 8));
  REQUIRE(inspect("scaling configs/base.json --devices 8 --tflops 10").code == 2);
  for (const std::string words :
       {"label-smoothing configs/base.json", "kv-cache configs/table3.json", "complexity",
        "flops configs/base.json --devices 1 --tflops 100 --utilisation 0.4", "masks"}) {
    const auto text = inspect(words);
    INFO(words << ": " << text.err);
    REQUIRE(text.code == 0);
    REQUIRE(text.out.size() > 200);
  }
}

TEST_CASE("inspect: positions, embeddings, masks, shapes and signal of a real model", "[e2e]") {
  const auto positions = figures("positions configs/mini.json --length 3");
  REQUIRE(positions["matrix"].size() == 3);
  REQUIRE(positions["matrix"][1][0].get<double>() == Approx(std::sin(1.0)));
  REQUIRE(positions["norms"][2].get<double>() == Approx(std::sqrt(32.0)));
  const auto learned = figures("positions configs/mini.json model.positions=learned --length 4");
  REQUIRE(learned["norms"][3].get<double>() == Approx(1).margin(0.4));
  const auto scale = figures("embedding-scale configs/mini.json")["rows"][0]["source"];
  REQUIRE(scale["scaled"].get<double>() / scale["embedding"].get<double>() ==
          Approx(8).epsilon(1e-4));
  const auto masks = inspect("masks --source 3,1 --target 2,2");
  REQUIRE_THAT(masks.out, Contains("# . .   1 × 1.000 = 1.000") && Contains("# #   2 × 0.500"));
  REQUIRE(figures("masks --source 3,1 --target 2,2")["masks"][3]["allowed"][1][0] ==
          Json({true, false, false}));
  REQUIRE(figures("shapes configs/mini.json")["parameters"] ==
          figures("parameters configs/mini.json")["total"]);
  REQUIRE_THAT(inspect("shapes configs/mini.json").out,
               Contains("[2, 8, 7, 7]") && Contains("the other layers, alike"));
  const auto signal =
      figures("signal configs/mini.json model.norm_placement=post,pre model.N=2")["rows"];
  REQUIRE(signal.size() == 2);
  REQUIRE(signal[1]["norm_placement"] == "pre");
  REQUIRE(signal[1]["sublayers"].size() == 10);
  REQUIRE_THAT(inspect("signal configs/mini.json model.N=1").out,
               Contains("decoder.layers.0.cross_attention"));
}

TEST_CASE("inspect: attention of a trained model", "[e2e]") {
  const Workplace place;
  REQUIRE(place.train("run").code == 0);
  std::vector<std::string> words = {"inspect",  "attention", "--checkpoint", place.file("run"),
                                    "--source", "the house", "--target",     "das Haus"};
  const auto text = run_program(words);
  INFO(text.err);
  REQUIRE(text.code == 0);
  REQUIRE_THAT(text.out, Contains("decoder.layers.0.cross_attention") && Contains("head 1"));
  words.insert(words.end(), {"--json", "--kind", "cross", "--head", "1"});
  const auto json = parse_json(run_program(words).out, "output");
  REQUIRE(json["attention"].size() == 1);
  const auto& heads = json["attention"][0]["heads"];
  REQUIRE(heads.size() == 1);
  REQUIRE(heads[0]["weights"].size() == json["target"].size());
  for (const auto& row : heads[0]["weights"]) {
    double sum = 0;
    for (const auto& weight : row) sum += weight.get<double>();
    REQUIRE(row.size() == json["source"].size());
    REQUIRE(sum == Approx(1).epsilon(1e-5));
  }
  words = {"inspect", "attention", "--checkpoint", place.file("run"), "--source", "x"};
  refused(run_program(words), 2, "expected --target TEXT");
  auto other = words;
  other.insert(other.end(), {"--target", "caf\xe9"});
  refused(run_program(other), 2, "--target: expected UTF-8");
  words.insert(words.end(), {"--target", "y", "--layer", "1"});
  refused(run_program(words), 2, "--layer: expected an integer in 0..0; got 1");
}

TEST_CASE("inspect: wrong use is one line that names what was wrong", "[e2e]") {
  refused(inspect("parameter"), 2, "inspect parameter: unknown topic; did you mean parameters?");
  refused(inspect("parameters"), 2, "too few arguments");
  refused(inspect("parameters configs/base.json model.V=null"), 2,
          "model.V: expected the number of word-pieces");
  refused(inspect("shapes configs/base.json model.V=null"), 2,
          "model.V: expected the number of word-pieces");
  refused(inspect("shapes configs/mini.json model.N=1,2"), 2, "expected one experiment; got 2");
  refused(inspect("schedule configs/base.json --steps 0,5"), 2,
          "--steps: expected integers in 1..");
  refused(inspect("complexity m=3"), 2, "m: unknown key");
  refused(inspect("complexity k=1"), 2, "k: 1 is not in 2..");
  refused(inspect("flops configs/base.json --utilisation 2"), 2, "--utilisation: expected");
  refused(inspect("positions configs/mini.json model.positions=none"), 2, "model.positions: none");
  refused(inspect("masks --source 3 --target 2,2"), 2, "--target: expected as many lengths");
  refused(inspect("masks --source 0 --target 2"), 2, "expected a length above 0");
}
