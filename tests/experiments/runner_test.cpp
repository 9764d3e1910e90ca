#include "experiments/runner.h"

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <memory>
#include <thread>

#include "experiments/own_folder.h"
#include "experiments/sweep_folder.h"
#include "tests/catch.h"
#include "tests/temporary_folder.h"
#include "transformer/error.h"
#include "transformer/files.h"
#include "transformer/fingerprint.h"
#include "transformer/folder_lock.h"

using namespace transformer;
using Catch::Matchers::Contains;
using Kind = RunEvent::Kind;
namespace fs = std::filesystem;

namespace {

// Stands for `transformer`: what a run does is in its row's id. $2 is its config, $4 its folder.
constexpr const char* kProgram = R"sh(#!/bin/sh
echo "$*" >> "$4/started"
echo "threads $OMP_NUM_THREADS"
case "$4" in
*/fails/*) printf 'a progress line\rtransformer: training.valid: no such file\n' >&2; exit 2;;
*/silent/*) exit 1;;
*/forgets/*) exit 0;;
*/killed/*) kill -9 $$;;
*/diverges/*) cp "$4/../../../divergence.json" "$4"; echo 'transformer: step 7: not finite' >&2
  exit 3;;
*/untold/*) exit 3;;
*/waits/*) trap 'echo stopped > "$4/checkpoint"; exit 143' TERM
  echo '{"step": 5, "loss": 2.5}' > "$4/metrics.jsonl"
  mkdir -p "$4/checkpoints/step-000000003" "$4/checkpoints/step-000000012"
  touch "$4/waiting"
  [ -e "$4/checkpoint" ] || while :; do sleep 0.01; done;;
*/counts/*) trap 'echo USR1 >> "$4/signals"; exit 138' USR1
  trap 'echo TERM >> "$4/signals"; exit 143' TERM
  touch "$4/waiting"; while :; do sleep 0.01; done;;
*/unlucky/*) [ "$(wc -l < "$4/started")" -lt 3 ] && kill -9 $$;;
*/stubborn/*) trap '' TERM INT; touch "$4/waiting"; while :; do sleep 0.01; done;;
*/together-*) touch "$4/here"; echo "GPU $CUDA_VISIBLE_DEVICES: $*" > "$4/gpu"
  while [ ! -e "$4/../../together-1/seed-1/here" ]; do sleep 0.01; done
  while [ ! -e "$4/../../together-2/seed-1/here" ]; do sleep 0.01; done;;
esac
touch "$4/model.safetensors"
n=$(sed -n 's/.*"N": *\([0-9]*\).*/\1/p' "$2")
cp "$4/../../../result-$n-${4##*seed-}.json" "$4/result.tmp"
mv "$4/result.tmp" "$4/result.json"
)sh";

Config config_of_row(int64_t N) {
  Config config;
  config.model.N = N;
  return resolve(config);
}

class Place {
 public:
  Place() {
    write_file(path_ / "program", kProgram);
    fs::permissions(path_ / "program", fs::perms::owner_all);
    constexpr int64_t kMostRows = 6, kMostSeeds = 2;
    for (int64_t row = 1; row <= kMostRows; ++row) {
      for (int64_t seed = 1; seed <= kMostSeeds; ++seed) {
        Config config = config_of_row(row);
        config.training.seed = seed;
        Result result;
        result.config = to_json(config);
        result.perplexity = 4.5;
        result.seed = seed;
        write_result(
            path_ / ("result-" + std::to_string(row) + "-" + std::to_string(seed) + ".json"),
            result);
      }
    }
    write_divergence(path_, resolve(Config{}), 7, "step 7: the loss is not finite");
  }

  fs::path out() const { return path_ / "out"; }
  fs::path run(const std::string& row, int seed = 1) const {
    return out() / row / ("seed-" + std::to_string(seed));
  }
  int starts(const std::string& row, int seed = 1) const {
    std::ifstream in(run(row, seed) / "started");
    int lines = 0;
    for (std::string line; std::getline(in, line);) ++lines;
    return lines;
  }
  RunnerOptions options() const {
    return {.folder = out(), .jobs = 1, .threads = 3, .program = path_ / "program"};
  }
  SweepOutcome operator()(const Sweep& sweep) { return (*this)(sweep, options()); }
  SweepOutcome operator()(const Sweep& sweep, const RunnerOptions& options) {
    return run_sweep(sweep, sweep, options, [&](const RunEvent& event) {
      if (event.kind == Kind::failed) messages[event.row.id] = event.message;
      if (event.kind == Kind::damaged) messages[event.row.id] += event.message;
      if (on_event) on_event(event);
    });
  }
  RunRecord record(const std::string& row, int64_t seed = 1) const {
    for (const auto& run : read_results(out() / "results.json").results) {
      if (run.id == row && run.seed == seed) return run;
    }
    throw Failure(row + ": not in results.json");
  }

  std::map<std::string, std::string> messages;
  std::function<void(const RunEvent&)> on_event;

 private:
  TemporaryFolder folder_;
  fs::path path_ = folder_.path();
};

Sweep sweep_with_rows(const std::vector<std::string>& ids, std::vector<int64_t> seeds = {1}) {
  Sweep sweep;
  for (size_t i = 0; i < ids.size(); ++i) {
    sweep.rows.push_back(
        {ids[i], "g", {{"model.N", i + 1}}, {}, config_of_row(static_cast<int64_t>(i) + 1)});
  }
  sweep.seeds = std::move(seeds);
  return sweep;
}

void wait_for(const fs::path& file) {
  for (int i = 0; i < 6000 && !fs::exists(file); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

}  // namespace

TEST_CASE("runner: every row and seed runs once, and run again nothing is left to do") {
  Place place;
  const auto sweep = sweep_with_rows({"a", "b"}, {1, 2});
  SweepOutcome outcome = place(sweep);
  REQUIRE(outcome.exit_code() == 0);
  REQUIRE(outcome.complete == 4);
  for (const std::string row : {"a", "b"}) {
    for (const int seed : {1, 2}) {
      REQUIRE(place.starts(row, seed) == 1);
      REQUIRE(is_run(place.run(row, seed)));  // before it starts, and so writes over nothing
      const auto config = load_config(place.run(row, seed) / "config.json");
      REQUIRE(config.training.seed == seed);
      REQUIRE(config.model.N == (row == "a" ? 1 : 2));
      const auto record = place.record(row, seed);
      REQUIRE(record.state == RunState::complete);
      REQUIRE(record.result->perplexity == 4.5);
      REQUIRE(record.result->seed == seed);
    }
  }
  REQUIRE(read_file(place.run("a") / "started") ==
          "train " + (place.run("a") / "config.json").string() + " --out " +
              place.run("a").string() + " --threads 3\n");
  REQUIRE(read_file(place.run("a") / "log.txt") == "threads 3\n");

  outcome = place(sweep);
  REQUIRE(outcome.complete == 4);
  REQUIRE(place.starts("a") == 1);

  fs::remove(place.run("b", 2) / "result.json");  // as if cut short
  REQUIRE(place(sweep).complete == 4);
  REQUIRE(place.starts("b", 2) == 2);
  REQUIRE(place.starts("b", 1) == 1);
}

TEST_CASE("runner: a damaged result is named and that run alone is run again") {
  Place place;
  const auto sweep = sweep_with_rows({"cut", "flipped", "lost", "good"});
  REQUIRE(place(sweep).complete == 4);
  const fs::path cut = place.run("cut") / "result.json";
  const fs::path flipped = place.run("flipped") / "result.json";
  write_file(cut, read_file(cut).substr(0, 100));
  std::string text = read_file(flipped);
  write_file(flipped, text.replace(text.find("4.5"), 3, "3.5"));
  fs::remove(place.run("lost") / "model.safetensors");

  // While others run, it is in the results as failed.
  Sweep good_only = sweep;
  select_rows(good_only, {"good"});
  REQUIRE(run_sweep(sweep, good_only, place.options(), [](auto&) {}).exit_code() == 0);
  for (const char* row : {"cut", "flipped", "lost"}) {
    REQUIRE(place.record(row).state == RunState::failed);
  }
  REQUIRE_THAT(place.record("flipped").message, Contains("do not match its checksum"));
  REQUIRE(place.record("good").state == RunState::complete);

  write_file(place.run("cut") / "config.json", "{");
  REQUIRE(place(sweep).exit_code() == 0);
  REQUIRE(load_config(place.run("cut") / "config.json").model.N == 1);
  REQUIRE_THAT(place.messages["cut"], Contains("cut/seed-1/result.json: not JSON") &&
                                          Contains("cut/seed-1/config.json: not JSON"));
  REQUIRE_THAT(place.messages["lost"], Contains("model.safetensors: is missing"));
  REQUIRE(place.starts("good") == 1);
  for (const char* row : {"cut", "flipped", "lost"}) {
    INFO(row);
    REQUIRE(place.starts(row) == 2);
    REQUIRE(place.record(row).result->perplexity == 4.5);
  }
}

TEST_CASE("runner: a run whose model is damaged is run again") {
  Place place;
  const auto sweep = sweep_with_rows({"a", "b"});
  place(sweep);
  auto options = place.options();
  options.damage_of_model = [](const fs::path& model) {
    const bool is_bad = model.string().find("/b/seed-1/model.safetensors") != std::string::npos;
    return std::string(is_bad ? "cut short" : "");
  };
  REQUIRE(place(sweep, options).complete == 2);
  REQUIRE(place.messages["b"] == "cut short");
  REQUIRE(place.starts("a") == 1);
  REQUIRE(place.starts("b") == 2);
}

TEST_CASE("runner: damaged files of the sweep itself say what to do") {
  Place place;
  const auto sweep = sweep_with_rows({"a"});
  place(sweep);
  std::string text = read_file(place.out() / "results.json");
  write_file(place.out() / "results.json", text.replace(text.find("4.5"), 3, "3.5"));
  REQUIRE_THROWS_WITH(read_sweep_results(place.out()),
                      Contains("do not match its checksum; the sweep, run again, makes it anew"));
  write_file(place.out() / "results.json", text.substr(0, 100));
  REQUIRE_THROWS_WITH(read_sweep_results(place.out()),
                      Contains("not JSON: line ") && Contains("run again, makes it anew"));
  write_file(place.out() / "sweep.json", "{");
  REQUIRE_THROWS_WITH(place(sweep), Contains("sweep.json: not JSON") && Contains("writes it anew"));
  fs::remove(place.out() / "sweep.json");
  REQUIRE(place(sweep).complete == 1);
  REQUIRE(read_sweep_results(place.out()).results[0].result->perplexity == 4.5);
}

TEST_CASE("runner: what a killed sweep calls running was interrupted") {
  Place place;
  place.on_event = [&](const RunEvent& event) {
    if (event.kind != Kind::started) return;
    wait_for(place.run("waits") / "waiting");
    raise(SIGTERM);
  };
  place(sweep_with_rows({"waits"}));
  auto results = read_results(place.out() / "results.json");
  results.results[0] = {"waits", 1, RunState::running, {}, ""};
  write_results(place.out() / "results.json", results);  // as if killed
  const auto read = read_sweep_results(place.out());
  REQUIRE(read.results[0].state == RunState::interrupted);
  REQUIRE(read.results[0].message == "at step 12 of 100000");
  {
    const FolderLock at_work(place.out());
    REQUIRE(read_sweep_results(place.out()).results[0].state == RunState::running);
  }
}

TEST_CASE("runner: a run that fails is told at once, the others go on, and the exit code is 1") {
  Place place;
  const auto sweep = sweep_with_rows({"fails", "silent", "forgets", "killed", "good"});
  const auto outcome = place(sweep);
  REQUIRE(outcome.exit_code() == 1);
  REQUIRE(outcome.failed == 4);
  REQUIRE(outcome.complete == 1);
  const auto log = [&](const std::string& row) {
    return " (log: " + (place.run(row) / "log.txt").string() + ")";
  };
  REQUIRE(place.messages["fails"] == "training.valid: no such file" + log("fails"));
  // What it printed before it fell silent is all there is.
  REQUIRE(place.messages["silent"] == "threads 3" + log("silent"));
  REQUIRE(place.messages["forgets"] == "ended well, but wrote no result.json" + log("forgets"));
  REQUIRE(place.messages["killed"] == "killed by signal 9 (Killed)" + log("killed"));
  REQUIRE(place.record("good").state == RunState::complete);
  REQUIRE(place.record("fails").state == RunState::failed);
  REQUIRE(place.record("fails").message == place.messages["fails"]);

  // Run again only what failed is tried again; what is not chosen keeps its state.
  Sweep good_only = sweep;
  select_rows(good_only, {"good"});
  REQUIRE(run_sweep(sweep, good_only, {.folder = place.out(), .program = "/bin/false"}, [](auto&) {
          }).exit_code() == 0);
  REQUIRE(place.record("killed").state == RunState::failed);
  REQUIRE(place(sweep).failed == 4);
  REQUIRE(place.starts("fails") == 2);
  REQUIRE(place.starts("good") == 1);
}

TEST_CASE("runner: a run that diverges is a result: no failure, and not run again") {
  Place place;
  const auto sweep = sweep_with_rows({"diverges", "good"});
  int told = 0;
  place.on_event = [&](const RunEvent& event) {
    if (event.kind == Kind::diverged) ++told;
  };
  auto outcome = place(sweep);
  REQUIRE(outcome.exit_code() == 0);
  REQUIRE(outcome.complete == 1);
  REQUIRE(outcome.diverged == 1);
  REQUIRE(told == 1);
  const auto record = place.record("diverges");
  REQUIRE(record.state == RunState::diverged);
  REQUIRE(record.diverged_at == 7);
  REQUIRE(record.message == "step 7: the loss is not finite");
  REQUIRE_FALSE(fs::exists(place.run("diverges") / "failure.txt"));

  outcome = place(sweep);
  REQUIRE(outcome.diverged == 1);
  REQUIRE(place.starts("diverges") == 1);
  write_file(place.run("diverges") / "divergence.json", "{\"step\": 9}");  // damaged
  REQUIRE(place(sweep).diverged == 1);
  REQUIRE(place.starts("diverges") == 2);
}

TEST_CASE("runner: with two jobs two runs go on at the same time") {
  Place place;
  RunnerOptions options = place.options();
  options.jobs = 2;
  // Each ends only when the other has started.
  REQUIRE(place(sweep_with_rows({"together-1", "together-2"}), options).complete == 2);
}

TEST_CASE("runner: runs that go on at the same time are placed on GPUs of their own") {
  Place place;
  RunnerOptions options = place.options();
  options.jobs = 2;
  options.gpus = {4, 7};
  unsetenv("CUDA_VISIBLE_DEVICES");
  REQUIRE(place(sweep_with_rows({"together-1", "together-2"}), options).complete == 2);
  for (const auto& [row, gpu] : {std::pair{"together-1", "GPU 4: "}, {"together-2", "GPU 7: "}}) {
    REQUIRE_THAT(read_file(place.run(row) / "gpu"),
                 Catch::Matchers::StartsWith(gpu) && Contains("--device cuda"));
  }
}

TEST_CASE("runner: a batch system's task does its run beside others, and is told to end once") {
  Place place;
  const auto sweep = sweep_with_rows({"counts", "other"});
  Sweep other = sweep;
  select_rows(other, {"other"});
  run_sweep(sweep, other, place.options(), [](auto&) {});
  const FolderLock at_work(place.out());  // another sweep, or another machine's
  Sweep selected = sweep;
  select_rows(selected, {"counts"});
  auto options = place.options();
  options.role = RunnerRole::batch_task;
  bool has_told = false;
  const auto on_event = [&](const RunEvent& event) {
    if (event.kind != Kind::started) return;
    wait_for(place.run("counts") / "waiting");
    raise(SIGTERM);
    has_told = true;
  };
  const auto outcome = run_sweep(sweep, selected, options, on_event);
  REQUIRE(has_told);
  REQUIRE(outcome.signal == SIGTERM);
  REQUIRE(outcome.left == 1);
  REQUIRE(read_file(place.run("counts") / "signals") == "USR1\n");  // and no second TERM
  REQUIRE(read_sweep_results(place.out()).results[0].state == RunState::interrupted);
}

TEST_CASE("runner: with several jobs the run with most work starts first") {
  Place place;
  RunnerOptions options = place.options();
  options.jobs = 2;
  options.work = [](const Config& config) { return config.model.N == 2 ? 10.0 : 1.0; };
  std::vector<std::string> started;
  place.on_event = [&](const RunEvent& event) {
    if (event.kind == Kind::started) started.push_back(event.row.id);
  };
  place(sweep_with_rows({"a", "b", "c"}), options);
  REQUIRE(started == std::vector<std::string>{"b", "a", "c"});
}

TEST_CASE("runner: a signal is passed on, the run stops after its checkpoint and later goes on") {
  Place place;
  const auto sweep = sweep_with_rows({"waits", "later"});
  place.on_event = [&](const RunEvent& event) {
    if (event.kind != Kind::started) return;
    wait_for(place.run("waits") / "waiting");
    if (!fs::exists(place.run("waits") / "checkpoint")) raise(SIGTERM);
  };
  SweepOutcome outcome = place(sweep);
  REQUIRE(outcome.exit_code() == 143);
  REQUIRE(outcome.failed == 0);
  REQUIRE(outcome.left == 2);
  REQUIRE(read_file(place.run("waits") / "checkpoint") == "stopped\n");
  REQUIRE(place.record("waits").state == RunState::interrupted);
  REQUIRE(place.record("waits").message == "at step 12 of 100000");
  REQUIRE(place.record("later").state == RunState::missing);
  REQUIRE(place.starts("later") == 0);

  outcome = place(sweep);
  REQUIRE(outcome.exit_code() == 0);
  REQUIRE(outcome.complete == 2);
}

TEST_CASE("runner: a second signal kills what does not stop") {
  Place place;
  place.on_event = [&](const RunEvent& event) {
    if (event.kind != Kind::started) return;
    wait_for(place.run("stubborn") / "waiting");
    raise(SIGINT);
    raise(SIGINT);
  };
  const auto outcome = place(sweep_with_rows({"stubborn"}));
  REQUIRE(outcome.exit_code() == 130);
  REQUIRE(outcome.left == 1);
}

TEST_CASE("runner: what was killed is tried again, so often and no oftener") {
  Place place;
  auto options = place.options();
  options.retries = 2;
  std::vector<std::string> retried;
  place.on_event = [&](const RunEvent& event) {
    if (event.kind == Kind::retried) retried.push_back(event.row.id + ": " + event.message);
  };
  const auto outcome =
      place(sweep_with_rows({"unlucky", "killed", "fails", "diverges", "untold"}), options);
  REQUIRE(outcome.complete == 1);
  REQUIRE(place.starts("unlucky") == 3);
  REQUIRE(place.record("unlucky").state == RunState::complete);
  REQUIRE(place.starts("killed") == 3);
  REQUIRE(place.starts("fails") == 1);  // its config is at fault
  REQUIRE(place.starts("diverges") == 1);
  REQUIRE(outcome.diverged == 1);
  REQUIRE(place.starts("untold") == 1);  // it diverged, and could not write that down
  REQUIRE(place.record("untold").state == RunState::failed);
  REQUIRE(retried.size() == 4);
  REQUIRE_THAT(retried[0], Contains("unlucky: killed by signal 9"));
}

TEST_CASE("runner: a run past its time is told to end, and one that does not is made to") {
  Place place;
  auto options = place.options();
  options.jobs = 2;
  options.retries = 1;  // none for a run whose time is up
  options.limits.time = std::chrono::seconds(1);
  options.patience = std::chrono::milliseconds(300);
  REQUIRE(place(sweep_with_rows({"waits", "stubborn"}), options).failed == 2);
  for (const char* row : {"waits", "stubborn"}) {
    REQUIRE(place.starts(row) == 1);
    REQUIRE_THAT(place.messages[row], Contains("ended after its time limit of 1 s, after step "));
  }
  REQUIRE_THAT(place.messages["waits"], Contains("after step 12"));
  REQUIRE(fs::exists(place.run("waits") / "checkpoint"));
}

TEST_CASE("runner: a run without a sign of life is ended, reported, and tried again") {
  Place place;
  auto options = place.options();
  options.retries = 1;
  options.limits.silence = std::chrono::seconds(1);
  options.patience = std::chrono::milliseconds(300);
  REQUIRE(place(sweep_with_rows({"stubborn"}), options).failed == 1);
  REQUIRE(place.starts("stubborn") == 2);
  REQUIRE_THAT(place.messages["stubborn"], Contains("stuck: no sign of life for 1 s"));
}

TEST_CASE("runner: a run that another process is at work on is waited for, not started") {
  Place place;
  const auto sweep = sweep_with_rows({"busy", "other"});
  fs::create_directories(place.run("busy"));
  auto held = std::make_unique<FolderLock>(place.run("busy"));
  std::vector<std::string> events;
  place.on_event = [&](const RunEvent& event) {
    if (event.kind == Kind::found) events.push_back("found " + event.row.id);
    if (event.kind != Kind::finished) return;
    events.push_back("finished " + event.row.id);
    if (event.row.id == "other") held.reset();  // what it did is left to do
  };
  auto options = place.options();
  options.jobs = 2;
  REQUIRE(place(sweep, options).complete == 2);
  REQUIRE(events == std::vector<std::string>{"found busy", "finished other", "finished busy"});
  REQUIRE(place.starts("busy") == 1);
}

TEST_CASE("runner: progress is read from the run's metrics") {
  Place place;
  std::vector<RunProgress> told;
  place.on_event = [&](const RunEvent& event) {
    if (event.kind != Kind::progress) return;
    told.push_back(event.progress);
    raise(SIGTERM);
  };
  place(sweep_with_rows({"waits"}));
  REQUIRE(told.size() == 1);
  REQUIRE(told[0].step == 5);
  REQUIRE(told[0].loss == 2.5);
}

TEST_CASE("runner: while one process runs a sweep another is refused") {
  Place place;
  const auto sweep = sweep_with_rows({"a"});
  std::string refusal;
  place.on_event = [&](const RunEvent& event) {
    if (event.kind != Kind::started) return;
    try {
      run_sweep(sweep, sweep, {.folder = place.out()}, [](auto&) {});
    } catch (const Failure& failure) {
      refusal = failure.what();
    }
  };
  REQUIRE(place(sweep).exit_code() == 0);
  REQUIRE_THAT(refusal, Contains("in use by another process (" + std::to_string(getpid()) + ")"));
}

TEST_CASE("runner: a folder keeps its rows and seeds; more may come, but none may change") {
  Place place;
  place(sweep_with_rows({"a", "b"}));
  auto changed = sweep_with_rows({"a", "b"});
  changed.rows[1].config.model.d_ff = 99;
  REQUIRE_THROWS_AS(place(changed), UserError);
  REQUIRE_THROWS_WITH(place(changed),
                      Contains("holds another sweep: row b: model.d_ff: 2048 there; 99 now"));
  changed = sweep_with_rows({"a", "b"});
  changed.base.training.train_steps = 7;
  REQUIRE_THROWS_WITH(place(changed),
                      Contains("every row: training.train_steps: 100000 there; 7 now"));

  auto more = sweep_with_rows({"a", "b", "c"}, {2});
  more.rows.erase(more.rows.begin());
  REQUIRE(place(more).complete == 2);
  REQUIRE(place.starts("b", 1) == 1);
  REQUIRE(place.record("a", 1).state == RunState::complete);
  REQUIRE(place.record("a", 2).state == RunState::missing);
  REQUIRE(place.record("c", 2).state == RunState::complete);
}

TEST_CASE("runner: a program that is not there is one failure, not one a run") {
  Place place;
  const auto sweep = sweep_with_rows({"a", "b"});
  REQUIRE_THROWS_WITH(
      run_sweep(sweep, sweep, {.folder = place.out(), .program = "/no/such/program"}, [](auto&) {}),
      "/no/such/program: cannot start: No such file or directory");
}

TEST_CASE("runner: sweep.json has the fingerprint of each file of data, once the file is there") {
  Place place;
  const auto file = [&](const std::string& name) {
    return (place.out().parent_path() / name).string();
  };
  auto sweep = sweep_with_rows({"a", "b"});
  sweep.rows[0].set.update({{"data.train", {file("a")}}});
  sweep.rows[1].set.update({{"data.train", {file("b")}}, {"data.source_language", "fr"}});
  for (auto& row : sweep.rows) {
    row.set["data.vocabulary"] = file("vocabulary.model");
    for (const auto& [key, value] : row.set.items()) set_field(row.config, key, value);
  }
  write_file(file("a.en"), "the cat\n");
  write_file(file("a.de"), "die Katze\n");
  place.on_event = [&](const RunEvent& event) {
    if (event.kind != Kind::started || event.row.id != "a") return;
    REQUIRE(read_json(place.out() / "sweep.json")["data"][file("vocabulary.model")].is_null());
    write_file(file("vocabulary.model"), "pieces");  // as the run that learns it
  };
  REQUIRE(place(sweep).complete == 2);
  const Json data = read_json(place.out() / "sweep.json")["data"];
  REQUIRE(data == Json{{file("a.de"), fingerprint("die Katze\n")},
                       {file("a.en"), fingerprint("the cat\n")},
                       {file("b.de"), nullptr},
                       {file("b.fr"), nullptr},
                       {file("vocabulary.model"), fingerprint("pieces")}});
  REQUIRE(read_results(place.out() / "results.json").sweep["data"] == data);
  REQUIRE(place(sweep).complete == 2);  // it is read again
}

TEST_CASE("runner: a result of another row or seed counts for none, and stays where it is") {
  Place place;
  const auto sweep = sweep_with_rows({"a", "b"}, {1, 2});
  REQUIRE(place(sweep).complete == 4);
  const auto exchange = [](const fs::path& one, const fs::path& other) {
    fs::rename(one, other.string() + "-now");
    fs::rename(other, one);
    fs::rename(other.string() + "-now", other);
  };
  exchange(place.run("a", 1), place.run("b", 1));
  exchange(place.run("a", 2), place.run("a", 1));  // b's first is now a's second
  place.messages.clear();
  const auto outcome = place(sweep);
  REQUIRE(outcome.complete + outcome.failed == 4);
  REQUIRE_THAT(place.messages["a"], Contains("result.json: is of another run: "));
  REQUIRE_THAT(place.messages["b"], Contains("is of another run: model.N: 1 there; 2 now"));
}
