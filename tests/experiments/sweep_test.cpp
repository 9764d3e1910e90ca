#include "experiments/sweep.h"

#include <unistd.h>

#include <array>
#include <chrono>
#include <fstream>

#include "tests/catch.h"
#include "tests/temporary_folder.h"

using namespace transformer;
using Catch::Matchers::Contains;
namespace fs = std::filesystem;

namespace {

class SweepFiles : public TemporaryFolder {
 public:
  SweepFiles() {
    std::ofstream(*this / "base.json") << R"({"model": {"d_model": 64, "h": 4, "V": 100}})";
  }
  fs::path write(const std::string& text) const {
    std::ofstream(*this / "x.json") << text;
    return *this / "x.json";
  }
};

std::vector<std::string> ids(const Sweep& sweep) {
  std::vector<std::string> all;
  for (const auto& row : sweep.rows) all.push_back(row.id);
  return all;
}

using Ids = std::vector<std::string>;

Sweep table(const std::string& name) {
  return load_sweep(fs::path(TRANSFORMER_SOURCE) / "configs" / name);
}

}  // namespace

TEST_CASE("sweep: later beats earlier: base, set, row, command line") {
  const SweepFiles folder;
  const auto file = folder.write(R"({"base": "base.json",
    "set": {"model.N": 3, "model.d_ff": 32, "data.train": "a"},
    "rows": [{"id": "one", "set": {"model.N": 2}}, {"id": "two", "group": "g", "set": {"model.h": 2},
              "paper": {"perplexity": 4.5}}], "seeds": [4, 2]})");
  Sweep sweep = load_sweep(file, {"training.train_steps=9", "model.N=5"});
  REQUIRE(ids(sweep) == Ids{"one", "two"});
  REQUIRE(sweep.seeds == std::vector<int64_t>{4, 2});
  const auto& [one, two] = std::tie(sweep.rows[0], sweep.rows[1]);
  REQUIRE(one.config.model.N == 5);
  REQUIRE(one.set == Json{{"model.N", 5}});
  REQUIRE(two.config.model.N == 5);
  REQUIRE(two.config.model.d_k == 32);
  REQUIRE(two.config.model.d_ff == 32);
  REQUIRE(two.config.data.train == std::vector<std::string>{"a"});
  REQUIRE(two.config.training.train_steps == 9);
  REQUIRE(two.group == "g");
  REQUIRE(two.paper.perplexity == 4.5);
  REQUIRE_FALSE(two.paper.bleu);

  select_rows(sweep, {"two"});
  REQUIRE(ids(sweep) == Ids{"two"});
  REQUIRE_THROWS_WITH(select_rows(sweep, {"tow"}), "row tow: not in this sweep; did you mean two?");
}

TEST_CASE("sweep: comma lists on the command line make a grid of an experiment") {
  const SweepFiles folder;
  const auto sweep = load_sweep(folder.path() / "base.json",
                                {"model.norm_placement=post,pre", "training.warmup_steps=0,4000",
                                 "model.N=1", R"(data.train=["a","b"])"});
  REQUIRE(ids(sweep) ==
          Ids{"norm_placement-post--warmup_steps-0", "norm_placement-post--warmup_steps-4000",
              "norm_placement-pre--warmup_steps-0", "norm_placement-pre--warmup_steps-4000"});
  REQUIRE(sweep.seeds == std::vector<int64_t>{1});
  const auto& row = sweep.rows[2];
  REQUIRE(row.config.model.norm_placement == NormPlacement::pre);
  REQUIRE(row.config.training.warmup_steps == 0);
  REQUIRE(row.config.model.N == 1);
  REQUIRE(row.config.data.train == std::vector<std::string>{"a", "b"});
  REQUIRE(row.set == Json{{"model.norm_placement", "pre"}, {"training.warmup_steps", 0}});

  REQUIRE(ids(load_sweep(folder.path() / "base.json")) == Ids{"base"});
  REQUIRE_THROWS_WITH(load_sweep(folder.path() / "base.json", {"model.h=1,4,1"}),
                      "command line: model.h: the value 1 is given twice");
  REQUIRE_THROWS_WITH(load_sweep(folder.path() / "base.json", {"model.h=1,x"}),
                      "model.h: expected an integer; got \"x\"");
  REQUIRE_THROWS_WITH(load_sweep(folder.path() / "base.json", {"model.h=1", "model.h=2"}),
                      "command line: model.h is given twice");
}

TEST_CASE(
    "sweep: rows and a grid make every row with every point; figures stay with the row itself") {
  const SweepFiles folder;
  const auto file =
      folder.write(R"({"base": "base.json", "grid": {"model.norm_placement": ["post", "pre"]},
    "rows": [{"id": "a", "paper": {"bleu": 20}}, {"id": "b", "set": {"model.h": 2}}]})");
  const auto sweep = load_sweep(file);
  REQUIRE(ids(sweep) == Ids{"a--norm_placement-post", "a--norm_placement-pre",
                            "b--norm_placement-post", "b--norm_placement-pre"});
  REQUIRE(sweep.rows[0].paper.bleu == 20);
  REQUIRE_FALSE(sweep.rows[1].paper.bleu);
  REQUIRE(sweep.rows[3].set == Json{{"model.h", 2}, {"model.norm_placement", "pre"}});
  REQUIRE(ids(load_sweep(file, {"model.norm_placement=pre"})) ==
          Ids{"a--norm_placement-pre", "b--norm_placement-pre"});
  REQUIRE_THROWS_WITH(load_sweep(file, {"model.h=1,2"}),
                      Contains("row b: model.h: the row sets it, and so does the grid"));
}

TEST_CASE("sweep: mistakes name the file, the row and the key") {
  const SweepFiles folder;
  const auto refused = [&](const std::string& text, const std::string& message) {
    INFO(text);
    REQUIRE_THROWS_WITH(load_sweep(folder.write(text)), Contains("x.json: " + message));
  };
  const auto row_refused = [&](const std::string& row, const std::string& message) {
    refused(R"({"base": "base.json", "rows": [)" + row + "]}", message);
  };
  row_refused(R"({"id": "B-k16", "set": {"model.dk": 16}})",
              "row B-k16: model.dk: unknown key; did you mean model.d_k?");
  row_refused(R"({"id": "a", "set": {"model.d_k": "16"}})",
              "row a: model.d_k: expected an integer; got \"16\"");
  row_refused(R"({"id": "a", "set": {"model.h": 3}})",
              "row a: model.h: 3 does not divide model.d_model = 64");
  row_refused(R"({"id": "a", "set": {"training.seed": 3}})",
              "row a: training.seed: a sweep's runs have");
  row_refused(R"({"id": "a", "sets": {}})", "rows[0].sets: unknown key; did you mean set?");
  row_refused(R"({"id": "a", "set": []})", "row a: set: expected an object; got []");
  row_refused(R"({"id": "a", "paper": {"ppl": 1}})", "rows[0].paper.ppl: unknown key");
  row_refused(R"({"id": "a"}, {"id": "a", "set": {"model.h": 1}})", "row a: two rows have this id");
  row_refused(R"({"id": "a"}, {"id": "b", "set": {"model.h": 4}})",
              "row b: the same experiment as row a");
  row_refused("4", "rows[0]: expected an object; got 4");
  refused(R"({"rows": []})", "base: expected the experiment it starts from");
  refused(R"({"base": "base.json", "rows": {}})", "rows: expected a list; got {}");
  refused(R"({"base": "base.json", "row": [], "seeds": [1]})",
          "row: unknown key; did you mean rows?");
  refused(R"({"base": "base.json", "seeds": [1, 1]})", "seeds: the seed 1 is given twice");
  refused(R"({"base": "base.json", "seeds": [0]})", "seeds: expected seeds from 1; got 0");
  refused(R"({"base": "base.json", "seeds": []})", "seeds: expected at least one seed");
  refused(R"({"base": "base.json", "grid": {"model.h": 4}})",
          "grid: model.h: expected a list of values; got 4");
  refused(R"({"base": "base.json", "grid": {"model.hh": [4]}})", "grid: model.hh: unknown key");
  refused(R"({"base": "base.json", "set": {"model": {}}})", "model: unknown key");
  const auto blamed = [&](const std::string& rows, const std::string& override) {
    const auto file = folder.write(R"({"base": "base.json", "rows": [)" + rows + "]}");
    try {
      load_sweep(file, {override});
      return std::string("nobody");
    } catch (const UserError& error) {
      const std::string message = error.what();
      return message.substr(0, message.find(": "));
    }
  };
  REQUIRE(blamed(R"({"id": "a"})", "model.h=3") == "command line");
  REQUIRE(blamed(R"({"id": "a", "set": {"model.d_ff": 9}}, {"id": "b"})", "model.d_ff=8") ==
          "command line");  // both rows are one experiment now
  REQUIRE(blamed(R"({"id": "a", "set": {"model.h": 3}})", "model.N=2") ==
          (folder / "x.json").string());
  REQUIRE(blamed(R"({"id": "a", "set": {"model.h": 3}})", "model.h=4") == "nobody");
  REQUIRE_THROWS_WITH(load_sweep(folder.write(R"({"base": "none.json", "rows": []})")),
                      Contains("none.json: cannot open"));
}

TEST_CASE("sweep: a file without rows and grid is one row, called by the file") {
  const SweepFiles folder;
  const auto named = [&](const std::string& name) {
    std::ofstream(folder / name) << R"({"base": "base.json", "seeds": [1, 2]})";
    return ids(load_sweep(folder / name));
  };
  REQUIRE(named("three seeds.json") == Ids{"three_seeds"});
  REQUIRE(named("-x.json") == Ids{"experiment-x"});
  REQUIRE_THROWS_WITH(load_sweep(folder.write(R"({"base": "base.json", "rows": []})")),
                      Contains("rows: expected at least one row; got []"));
  REQUIRE_THROWS_WITH(load_sweep(folder.write(R"({"base": "base.json", "grid": {}})")),
                      Contains("grid: expected a key with its list of values; got {}"));
  REQUIRE_THROWS_WITH(load_sweep(folder.write(R"({"base": "base.json", "grid": {"a\u001b": 1}})")),
                      Contains(R"(grid: "a\u001b": expected a list)"));
}

TEST_CASE("sweep: an id that could leave the folder or hide in it is refused") {
  const SweepFiles folder;
  for (const std::string id : {"", ".", "..", "../a", "a/b", "/tmp", ".hidden", "-rf", "a b",
                               "\\u00e4", "a,b", "lock", "sweep.json"}) {
    INFO(id);
    REQUIRE_THROWS_WITH(
        load_sweep(folder.write(R"({"base": "base.json", "rows": [{"id": ")" + id + "\"}]}")),
        Contains("rows[0]") && Contains("id: "));
  }
  REQUIRE_THROWS_WITH(
      load_sweep(folder.write(R"({"base": "base.json", "rows": [{"id": "a\u0000"}]})")),
      Contains("rows[0].id: expected text without a NUL"));
}

TEST_CASE("sweep: a grid too large to be meant is refused") {
  const SweepFiles folder;
  std::string list = "1";
  for (int i = 2; i <= 200; ++i) list += "," + std::to_string(i);
  REQUIRE_THROWS_WITH(load_sweep(folder.path() / "base.json",
                                 {"training.train_steps=" + list, "training.warmup_steps=" + list}),
                      Contains("more than 10000 rows"));
  for (int i = 201; i <= 500'000; ++i) list += "," + std::to_string(i);
  const auto file =
      folder.write(R"({"base": "base.json", "grid": {"model.d_ff": [)" + list + "]}}");
  const auto start = std::chrono::steady_clock::now();
  REQUIRE_THROWS_WITH(load_sweep(file), Contains("more than 10000 rows"));
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
  REQUIRE(time.count() < 5);  // before each value is looked at, which takes minutes
}

TEST_CASE("sweep: writing and reading is the identity") {
  const auto sweep = table("table3-mini.json");
  const Json json = to_json(sweep);
  const auto again = sweep_from_json(parse_json(json.dump(), "x"), "x");
  REQUIRE(to_json(again) == json);
  REQUIRE(again.rows.size() == 20);
  for (size_t i = 0; i < 20; ++i) REQUIRE(again.rows[i].config == sweep.rows[i].config);
}

TEST_CASE("sweep: table3.json is the paper's Table 3") {
  const auto sweep = table("table3.json");
  REQUIRE(ids(sweep) == Ids{"base",      "A-h1",    "A-h4",     "A-h16",    "A-h32",
                            "B-k16",     "B-k32",   "C-N2",     "C-N4",     "C-N8",
                            "C-d256",    "C-d1024", "C-ff1024", "C-ff4096", "D-drop0",
                            "D-drop0.2", "D-ls0",   "D-ls0.2",  "E",        "big"});
  // The paper's development perplexity and BLEU, and its parameters in millions, row by row.
  const std::vector<std::array<double, 3>> figures = {
      {4.92, 25.8, 65}, {5.29, 24.9, 0},   {5.00, 25.5, 0},  {4.91, 25.8, 0},  {5.01, 25.4, 0},
      {5.16, 25.1, 58}, {5.01, 25.4, 60},  {6.11, 23.7, 36}, {5.19, 25.3, 50}, {4.88, 25.5, 80},
      {5.75, 24.5, 28}, {4.66, 26.0, 168}, {5.12, 25.4, 53}, {4.75, 26.2, 90}, {5.77, 24.6, 0},
      {4.95, 25.5, 0},  {4.67, 25.3, 0},   {5.47, 25.7, 0},  {4.92, 25.7, 0},  {4.33, 26.4, 213}};
  for (size_t i = 0; i < sweep.rows.size(); ++i) {
    const auto& row = sweep.rows[i];
    INFO(row.id);
    REQUIRE(row.group == row.id.substr(0, row.id.find('-')));
    REQUIRE(row.paper.perplexity == figures[i][0]);
    REQUIRE(row.paper.bleu == figures[i][1]);
    REQUIRE(row.paper.parameters.value_or(0) == figures[i][2] * 1e6);
    REQUIRE(row.config.training.average_last == 1);
    REQUIRE(row.config.training.train_steps == (row.id == "big" ? 300000 : 100000));
    // Every row keeps the total width of its heads, except where (B) and big change it.
    const auto& model = row.config.model;
    if (row.group != "B") REQUIRE(model.h * model.d_k == model.d_model);
    REQUIRE(model.h * model.d_v == model.d_model);
  }
}

TEST_CASE("sweep: the smaller tables are Table 3 in proportion") {
  const auto paper = table("table3.json");
  for (const std::string name : {"table3-mini.json", "table3-small.json"}) {
    const auto sweep = table(name);
    REQUIRE(ids(sweep) == ids(paper));
    for (size_t i = 0; i < sweep.rows.size(); ++i) {
      const auto& [row, like] = std::tie(sweep.rows[i], paper.rows[i]);
      INFO(name << " " << row.id);
      REQUIRE(row.group == like.group);
      REQUIRE(row.paper == like.paper);
      REQUIRE(row.set.size() == like.set.size());
      const auto in_proportion = [&](int64_t ours, int64_t our_base, int64_t theirs,
                                     int64_t their_base) {
        REQUIRE(ours * their_base == theirs * our_base);
      };
      const auto& [ours, our_base] = std::tie(row.config, sweep.rows[0].config);
      const auto& [theirs, their_base] = std::tie(like.config, paper.rows[0].config);
      in_proportion(ours.model.d_model, our_base.model.d_model, theirs.model.d_model,
                    their_base.model.d_model);
      in_proportion(ours.model.d_ff, our_base.model.d_ff, theirs.model.d_ff, their_base.model.d_ff);
      in_proportion(ours.model.d_k, our_base.model.d_k, theirs.model.d_k, their_base.model.d_k);
      in_proportion(ours.model.d_v, our_base.model.d_v, theirs.model.d_v, their_base.model.d_v);
      in_proportion(ours.training.train_steps, our_base.training.train_steps,
                    theirs.training.train_steps, their_base.training.train_steps);
      REQUIRE(ours.training.warmup_steps == our_base.training.warmup_steps);
      in_proportion(ours.model.N, our_base.model.N, theirs.model.N, their_base.model.N);
      REQUIRE(ours.model.h == theirs.model.h);
      REQUIRE(ours.model.P_drop == theirs.model.P_drop);
      REQUIRE(ours.model.positions == theirs.model.positions);
      REQUIRE(ours.training.eps_ls == theirs.training.eps_ls);
    }
  }
}
