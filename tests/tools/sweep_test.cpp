#include "experiments/sweep.h"

#include <algorithm>
#include <filesystem>
#include <string>

#include "experiments/sweep_folder.h"
#include "tests/catch.h"
#include "tests/temporary_folder.h"
#include "tests/tools/workplace.h"
#include "transformer/files.h"
#include "transformer/json.h"

using namespace transformer;
using Catch::Matchers::Contains;
namespace fs = std::filesystem;

namespace {

Outcome sweep(std::vector<std::string> words) {
  words.insert(words.begin(), "sweep");
  return run_program(words);
}

const std::string kMini = "configs/table3-mini.json";

}  // namespace

TEST_CASE("sweep command: the dry run as JSON, with comma lists whole and lists in quotes",
          "[e2e]") {
  const auto ran = sweep({"configs/mini.json", "model.N=1,2", R"(data.train=["a","b"])", "--seeds",
                          "3,4", "--dry-run", "--json", "--gflops", "2"});
  INFO(ran.err);
  REQUIRE(ran.code == 0);
  const Json json = parse_json(ran.out, "dry run");
  REQUIRE(json["rows"].size() == 2);
  REQUIRE(json["seeds"] == Json{3, 4});
  const Json& row = json["rows"][1];
  REQUIRE(row["id"] == "N-2");
  REQUIRE(row["set"] == Json{{"model.N", 2}});
  // 2000 · 64, then per layer: attention 4 · 64 · 64, three times; feed-forward 2 · 64 · 256 + 256
  // + 64, twice; norms 2 · 64, five times.
  REQUIRE(row["parameters"] ==
          1000 * 64 + 2 * (3 * 4 * 64 * 64 + 2 * (2 * 64 * 256 + 320) + 5 * 128));
  REQUIRE(row["seconds"].get<double>() == Approx(row["flops"].get<double>() / 2e9));
}

TEST_CASE("sweep command: wrong usage is one line and exit code 2", "[e2e]") {
  const auto refused = [](const std::vector<std::string>& words, const std::string& message) {
    const auto ran = sweep(words);
    INFO(ran.err);
    REQUIRE(ran.code == 2);
    REQUIRE_THAT(ran.err, Contains(message));
    REQUIRE(std::count(ran.err.begin(), ran.err.end(), '\n') == 1);
  };
  refused({kMini}, "--out: expected the sweep's folder");
  refused({kMini, "--dry-run", "--rows", "base,A-h2"},
          "row A-h2: not in this sweep; did you mean A-h");
  refused({kMini, "--dry-run", "--rows", "base,A-h1,base"}, "row base is given twice");
  refused({kMini, "--out", "/proc/none", "--gflops", "2"}, "--gflops: stands with --dry-run");
  refused({kMini, "--dry-run", "--rows="}, "--rows: expected a value; got none");
  refused({kMini, "--dry-run", "--seeds", "1,x"},
          "--seeds: expected integers such as 1,2,3; got 1,x");
  refused({kMini, "--dry-run", "--seeds", "0"}, "--seeds: expected seeds from 1; got 0");
  refused({kMini, "--seed", "2"}, "--seed: unknown option; did you mean --seeds?");
  refused({"configs/mini.json", "--dry-run", "model.hh=1,2"},
          "model.hh: unknown key; did you mean model.h?");
  refused({"configs/mini.json", "--dry-run", "model.P_drop=0.1,2"},
          "command line: row P_drop-2.0: model.P_drop: 2.0 is not in [0, 1)");
  refused({kMini, "--out", "/proc/none", "--launcher", "pbs"},
          "--launcher: \"pbs\" is not one of: local, slurm");
  refused({kMini, "--dry-run", "--partition", "gpu"}, "--partition: stands with --launcher slurm");
  refused({kMini, "--launcher", "slurm"}, "--launcher slurm: expected --out DIR");
  refused({kMini, "--launcher", "slurm", "--out", "/proc/none", "--devices", "0"},
          "--devices: stands with --launcher local");
  refused({kMini, "--launcher", "slurm", "--out", "/proc/none", "--dry-run", "--json"},
          "--json: stands with --launcher local");
  refused({kMini, "--launcher", "slurm", "--out", "/proc/none", "--sbatch", "ntasks=2"},
          "--sbatch: ntasks is the sweep's own; a run is one process");
  refused({kMini, "--out", "/proc/none", "--devices", "0", "--device", "cpu"},
          "--devices: stands without --device");
  refused({kMini, "--out", "/proc/none", "--devices", "0;1"},
          "--devices: expected numbers of GPUs such as 0,1; got 0;1");
  // The dry run refuses what the run itself would.
  for (const std::vector<std::string>& more :
       {std::vector<std::string>{"--dry-run"}, std::vector<std::string>{"--out", "/proc/none"}}) {
    const auto with = [&](std::vector<std::string> words) {
      words.insert(words.begin(), "configs/mini.json");
      words.insert(words.end(), more.begin(), more.end());
      return words;
    };
    refused(with({"--jobs", "0"}), "--jobs: expected an integer in 1..10000; got 0");
    refused(with({"--jobs=x"}), "--jobs: expected an integer in 1..10000; got x");
    refused(with({"--threads", "99999"}), "--threads: expected an integer in 1..4096; got 99999");
    refused(with({"--device", "tpu"}), "--device: \"tpu\" is not one of: auto, cpu");
    refused(with({"--gflops", "-1"}), "--gflops: expected a number above 0; got -1");
  }
}

TEST_CASE("sweep command: the dry run refuses a folder that holds another sweep", "[e2e]") {
  const TemporaryFolder folder;
  const std::string out = (folder / "out").string();
  const std::vector<std::string> nowhere = {"configs/mini.json", "data.train=/no/such/corpus",
                                            "--out", out};
  REQUIRE(sweep(nowhere).code == 1);
  auto other = nowhere;
  other.insert(other.end(), {"training.train_steps=7", "--dry-run"});
  const auto ran = sweep(other);
  REQUIRE(ran.code == 2);
  REQUIRE_THAT(ran.err, Contains("holds another sweep: every row: training.train_steps: 700 there; "
                                 "7 now"));
}

TEST_CASE("task command: does one of its sweep's runs, and no other", "[e2e]") {
  const Workplace place;
  const std::string out = place.file("out");
  std::vector<std::string> failing = place.settings({"data.train=/no/such/corpus"});
  failing.insert(failing.begin(), {"sweep", "configs/mini.json", "--out", out});
  REQUIRE(run_program(failing).code == 1);
  const auto row = read_sweep_results(out).results.at(0).id;
  const auto task = [&](const std::string& folder, const std::string& id, const std::string& seed) {
    return run_program({"task", folder, id, seed, "--retries", "0"});
  };
  refused(task(out, row, "9"), 2, "SEED: expected one of the sweep's seeds: 1; got 9");
  refused(task(out, row, "1x"), 2, "SEED: expected one of the sweep's seeds: 1; got 1x");
  refused(task(out, "none", "1"), 2, "row none: not in this sweep");
  refused(task(place.file("data"), row, "1"), 2, "sweep.json: cannot open");
  const auto ran = task(out, row, "1");
  REQUIRE(ran.code == 1);
  REQUIRE_THAT(ran.err, Contains("/no/such/corpus"));
  REQUIRE_THAT(read_sweep_results(out).results.at(0).message, Contains("/no/such/corpus"));
}

TEST_CASE("sweep command: damaged runs are run again, the others stay, and progress counts them",
          "[e2e]") {
  const Workplace place;
  const std::vector<std::string> words = {"sweep",
                                          "configs/mini.json",
                                          "--out",
                                          place.file("out"),
                                          "--jobs",
                                          "1",
                                          "data.train=" + place.file("data/train"),
                                          "data.valid=" + place.file("data/valid"),
                                          "data.vocabulary=" + place.file("data/vocabulary.model"),
                                          "model.V=400",
                                          "model.N=1",
                                          "model.d_model=16",
                                          "model.h=2",
                                          "training.train_steps=4",
                                          "decoding.beam=1",
                                          "decoding.max_extra_length=1",
                                          "model.d_ff=16,24,32"};
  const auto run = [&](const std::vector<std::string>& more = {}) {
    auto all = words;
    all.insert(all.end(), more.begin(), more.end());
    const auto ran = run_program(all);
    INFO(ran.err);
    REQUIRE(ran.code == 0);
    return ran;
  };
  const auto subset = run({"--rows", "d_ff-16,d_ff-24"});
  REQUIRE_THAT(subset.out, Contains("Runs complete: 2 of 2.") && !Contains("d_ff-32"));
  const auto rest = run();
  REQUIRE_THAT(rest.err, Contains(" 67% 2 of 3 runs done"));
  REQUIRE_THAT(rest.out, Contains("Runs complete: 3 of 3."));

  const auto file = [&](const std::string& row, const std::string& name) {
    return fs::path(place.file("out/d_ff-" + row + "/seed-1/" + name));
  };
  const std::string model = read_file(file("16", "model.safetensors"));
  const std::string result = read_file(file("24", "result.json"));
  write_file(file("16", "model.safetensors"), model.substr(0, 5000));
  write_file(file("24", "result.json"), result.substr(0, 500));
  const auto again = run();
  REQUIRE_THAT(again.err, Contains("d_ff-16: run again: ") && Contains("d_ff-24: run again: ") &&
                              !Contains("d_ff-32: ") && Contains("67% 1 of 3 runs done"));
  REQUIRE(read_file(file("16", "model.safetensors")) == model);
  const Json before = parse_json(result, "before");
  const Json after = read_json(file("24", "result.json"));
  REQUIRE(after["perplexity"] == before["perplexity"]);
  REQUIRE(after["bleu"] == before["bleu"]);

  const auto watched = run_program({"watch", place.file("out")});
  REQUIRE(watched.code == 0);
  REQUIRE_THAT(watched.out,
               Contains("d_ff-24 seed 1  complete  ") && Contains("\n3 of 3 runs complete\n"));
  REQUIRE(run_program({"report", place.file("out")}).code == 0);
  REQUIRE_THAT(read_file(place.file("out/report.html")), Contains("Runs complete: 3 of 3."));
  REQUIRE(read_json(place.file("out/report-charts/size.vl.json"))["data"]["values"].size() == 3);
  REQUIRE(run_program({"report", place.file("out")}).code == 0);  // over the first
  refused(run_program({"report", place.file("out"), "-o", place.file("out/sweep.json")}), 2,
          "sweep.json: exists; it is no report of a sweep out; name another file with --out");
  const std::string others = place.file("others.html");
  write_file(others,
             std::string("<meta name=\"generator\" content=\"transformer report\"><title>x"));
  refused(run_program({"report", place.file("out"), "-o", others}), 2,
          "others.html: exists; it is no report of a sweep out");
  REQUIRE(run_program({"report", place.file("out"), "-o", others, "--force"}).code == 0);
  REQUIRE(run_program({"report", place.file("out"), "-o", others}).code == 0);  // now it is
  const auto printed = run_program({"report", place.file("out"), "-o", "/dev/stdout"});
  REQUIRE(printed.code == 0);
  REQUIRE(printed.out == read_file(others));
}

TEST_CASE("sweep command: a run that fails does not stop the others, and the exit code is 1",
          "[e2e]") {
  const TemporaryFolder folder;
  const auto ran =
      sweep({"configs/mini.json", "model.N=1,2", "data.train=/no/such/corpus",
             "data.vocabulary=/no/such/vocabulary", "--out", (folder / "out").string()});
  INFO(ran.err);
  REQUIRE(ran.code == 1);
  REQUIRE_THAT(ran.err,
               Contains("N-1: failed: ") && Contains("N-2: failed: ") && Contains("2 failed"));
  REQUIRE(read_json(folder / "out/results.json")["results"][1]["state"] == "failed");
}

TEST_CASE("compare command: a sweep's rows by a key; runs that diverge are results", "[e2e]") {
  const Workplace place;
  const auto ran = sweep({"configs/mini.json",
                          "--out",
                          place.file("out"),
                          "--jobs",
                          "1",
                          "--seeds",
                          "1,2",
                          "data.train=" + place.file("data/train"),
                          "data.valid=" + place.file("data/valid"),
                          "data.vocabulary=" + place.file("data/vocabulary.model"),
                          "model.V=400",
                          "model.N=1",
                          "model.d_model=16",
                          "model.h=2",
                          "model.d_ff=16",
                          "training.train_steps=4",
                          "training.validate_every=2",
                          "training.log_every=1",
                          "training.schedule=constant",
                          "training.warmup_steps=0",
                          "decoding.beam=1",
                          "decoding.max_extra_length=1",
                          "training.learning_rate=0.001,1e25",
                          "model.norm_placement=post,pre"});
  INFO(ran.err);
  REQUIRE(ran.code == 0);
  REQUIRE_THAT(ran.err, Contains("4 runs complete, 4 diverged") && Contains(": diverged: step "));
  REQUIRE_THAT(ran.out, Contains("Runs complete: 4 of 8; 4 diverged."));

  const auto compared =
      run_program({"compare", place.file("out"), "--by", "norm_placement", "--ppl", "1e9",
                   "--format", "json", "--samples", "20", "--trials", "20"});
  INFO(compared.err);
  REQUIRE(compared.code == 0);
  const Json json = parse_json(compared.out, "compare");
  REQUIRE(json["by"] == Json{"model.norm_placement"});
  REQUIRE(json["settings"].size() == 2);
  const Json& small_rate = json["settings"][0]["rows"][1];
  REQUIRE(small_rate["perplexity_difference"]["n"] == 2);
  REQUIRE(small_rate["runs"][0]["validation"].size() == 2);
  REQUIRE(small_rate["steps_to"]["mean"] == 2);
  REQUIRE(small_rate["diverged"] == 0);
  const Json& large_rate = json["settings"][1]["rows"][0];
  REQUIRE(large_rate["diverged"] == 2);
  REQUIRE(large_rate["runs"][0]["diverged_at"].get<int64_t>() >= 2);
  REQUIRE(json["overall"][0]["diverged"] == 2);

  const auto text = run_program({"compare", place.file("out"), "--by", "model.norm_placement"});
  REQUIRE_THAT(text.out, Contains("difference to post") && Contains("2/2"));
  const auto refused = run_program({"compare", place.file("out")});
  REQUIRE(refused.code == 2);
  REQUIRE_THAT(refused.err, Contains("expected --by KEY"));
}

TEST_CASE("sweep command: a sweep named by its folder goes on there, with other seeds too",
          "[e2e]") {
  const Workplace place;
  auto words = place.settings({"training.train_steps=1", "model.N=1,2"});
  words.insert(words.begin(), {"configs/mini.json", "--out", place.file("sweep")});
  REQUIRE(sweep(words).code == 0);
  const auto more = sweep({place.file("sweep"), "--seeds", "2"});
  INFO(more.err);
  REQUIRE(more.code == 0);
  const Json results = read_json(place.file("sweep/results.json"));
  REQUIRE(results["results"].size() == 4);
  for (const auto& run : results["results"]) REQUIRE(run["state"] == "complete");
  const auto planned = sweep({place.file("sweep"), "--dry-run", "--json", "--gflops", "1"});
  REQUIRE(parse_json(planned.out, "dry run")["rows"].size() == 2);
  refused(sweep({place.file("sweep"), "model.h=1"}), 2, "model.h=1: the sweep that ");
  refused(sweep({place.file("sweep"), "--out", place.file("data")}), 2, "--out: ");
  refused(sweep({place.file("data")}), 2, "this folder has no sweep.json");
}

TEST_CASE("sweep command: a folder without a sweep keeps what a sweep would write over", "[e2e]") {
  const TemporaryFolder folder;
  const fs::path out = folder / "out";
  const std::vector<std::string> words = {"configs/mini.json", "model.N=1,2", "--out",
                                          out.string()};
  for (const std::string name :
       {"results.json", "lock", "sweep.json", "N-2/seed-1/config.json", "N-1/seed-1/log.txt"}) {
    fs::create_directories((out / name).parent_path());
    write_file(out / name, "{}\n");
    for (const bool is_dry : {true, false}) {
      auto all = words;
      if (is_dry) all.push_back("--dry-run");
      refused(sweep(all), 2, (out / name).string() + ": is there, but ");
    }
    REQUIRE(read_file(out / name) == "{}\n");
    fs::remove_all(out);
  }
}
