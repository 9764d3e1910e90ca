#include "experiments/slurm.h"

#include <cstdlib>

#include "experiments/other_program.h"
#include "experiments/slurm_runs.h"
#include "tests/catch.h"
#include "tests/temporary_folder.h"
#include "transformer/error.h"
#include "transformer/files.h"

using namespace transformer;
using Catch::Matchers::Contains;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

namespace {

// Folders whose names would do harm if a shell read them.
class HostilePlace {
 public:
  HostilePlace() : path_(folder_ / "it's \"$(touch harm)\" `touch harm`\n; touch harm #%a") {
    fs::create_directories(path_ / "out");
    write_program("program", "#!/bin/sh\nfor word in \"$@\"; do echo \"<$word>\"; done\npwd\n");
  }
  fs::path write_program(const std::string& name, const std::string& text) const {
    const fs::path file = path_ / name;
    write_file(file, text);
    fs::permissions(file, fs::perms::owner_all);
    return file;
  }
  const fs::path& path() const { return path_; }
  SlurmJob job() const {
    SlurmJob job{.name = "mini-1", .runs = {{"base", 1}, {"A-h1", 1}, {"base", 20}}};
    job.run.folder = path_ / "out";
    job.run.program = path_ / "program";
    job.run.threads = 3;
    job.run.retries = 2;
    job.working_folder = path_;
    return job;
  }

 private:
  TemporaryFolder folder_;
  fs::path path_;
};

// This process's PATH begins with the folder while one lives.
class Path {
 public:
  explicit Path(const std::string& folder) : before_(std::getenv("PATH")) {
    setenv("PATH", folder.c_str(), 1);
  }
  ~Path() { setenv("PATH", before_.c_str(), 1); }
  Path(const Path&) = delete;
  Path& operator=(const Path&) = delete;

 private:
  std::string before_;
};

SweepFolder::Run of(const char* row, int64_t seed) { return {row, seed}; }

}  // namespace

TEST_CASE("slurm: the script asks for what was asked for, and its tasks are the runs") {
  SlurmJob job{.name = "mini-1", .runs = {{"base", 1}, {"A-h1", 2}}};
  job.slurm = {.partition = "gpu", .sbatch = {"account=nlp", "comment=it's#1"}, .most_at_once = 4};
  job.run.folder = "/home/me/runs/mini";
  job.run.program = "/opt/transformer";
  job.run.threads = 2;
  job.run.device = "cuda";
  job.run.limits = {.time = 90min + 1s, .silence = 1h};
  job.working_folder = "/home/me";
  REQUIRE(slurm_script(job) == R"sh(#!/bin/sh
#SBATCH --job-name=mini-1
#SBATCH --array=0-1%4
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=2
#SBATCH --requeue
#SBATCH --signal=B:USR1@120
#SBATCH --output=%x_%a.log
#SBATCH --open-mode=append
#SBATCH --time=91
#SBATCH --gres=gpu:1
#SBATCH --partition=gpu
#SBATCH --account=nlp
#SBATCH --comment=it\'s\#1
# Each task is one run of the sweep. The shell becomes the program, which so has Slurm's signals at
# first hand: SIGUSR1 some time before the limit, SIGTERM when it has to make way.
case $SLURM_ARRAY_TASK_ID in
0) row=base seed=1 ;;
1) row=A-h1 seed=2 ;;
esac
cd /home/me || exit
exec /opt/transformer task /home/me/runs/mini "$row" "$seed" --threads 2 --device cuda --retries 0 --stuck-after 3600s
)sh");
  job.slurm.sbatch = {"gpus=2"};
  job.run.limits.time = 100s;  // a tenth of it for the checkpoint
  REQUIRE_THAT(slurm_script(job),
               !Contains("gres") && Contains("USR1@10\n") && Contains("time=2\n"));
}

TEST_CASE("slurm: a shell reads the names of folders as they are, and finds each task's run") {
  const HostilePlace place;
  write_file(place.path() / "script", slurm_script(place.job()));
  setenv("SLURM_ARRAY_TASK_ID", "2", 1);
  const Answer answer = ask("sh", {(place.path() / "script").string()});
  unsetenv("SLURM_ARRAY_TASK_ID");
  REQUIRE(answer.err.empty());
  REQUIRE(answer.out == "<task>\n<" + (place.path() / "out").string() +
                            ">\n<base>\n<20>\n<--threads>\n<3>\n<--retries>\n<2>\n" +
                            place.path().string() + "\n");
  REQUIRE_FALSE(fs::exists(place.path() / "harm"));
  REQUIRE_FALSE(fs::exists("harm"));
  auto job = place.job();
  job.slurm.partition = "gpu\ntouch harm";
  REQUIRE_THROWS_WITH(slurm_script(job), Contains("without spaces and control characters"));
}

TEST_CASE("slurm: options of sbatch, with dashes or without") {
  REQUIRE(read_sbatch_options(" account=nlp  --mem=8G exclusive", "--sbatch") ==
          std::vector<std::string>{"account=nlp", "mem=8G", "exclusive"});
  for (const char* bad : {"-A nlp", "Account=x", "=x", "wrap=ls", "parsable"}) {
    REQUIRE_THROWS_WITH(read_sbatch_options(bad, "--sbatch"),
                        Contains("--sbatch: expected long options of sbatch such as"));
  }
  REQUIRE_THROWS_WITH(read_sbatch_options("array=1-9", "--sbatch"),
                      "--sbatch: array is the sweep's own; --jobs K bounds the runs at a time");
  REQUIRE_THROWS_WITH(read_sbatch_options("time=10", "--sbatch"), Contains("use --time-limit"));
  REQUIRE_THROWS_WITH(read_sbatch_options("ntasks=2", "--sbatch"), Contains("one process"));
}

TEST_CASE("slurm: runs that it has in hand are found by the job's name, whatever sbatch answered") {
  const HostilePlace place;
  const Path path(place.path().string() + ":" + std::getenv("PATH"));
  const fs::path out = place.path() / "out";
  REQUIRE(slurm_tasks(out).empty());  // squeue is not asked
  place.write_program("sbatch", "#!/bin/sh\necho 'sbatch: error: too late' >&2\nexit 1\n");
  auto job = place.job();
  REQUIRE_THROWS_WITH(submit(job), "sbatch: error: too late");

  // As squeue prints them; of "mini-1" alone, and never again of a task that is done.
  place.write_program("squeue", R"sh(#!/bin/sh
case "$*" in *--name=mini-1\ *) ;; *) exit 9;; esac
echo 'mini-1|12_0|0|PENDING|Resources
mini-1|11_0|0|FAILED|NonZeroExitCode
mini-1|12_1|1|RUNNING|None
mini-1|12_2|2|TIMEOUT|TimeLimit
mini-1|12_7|7|RUNNING|None
mini-1|12_[8-9]|N/A|PENDING|None
other|13_0|0|RUNNING|None'
)sh");
  const auto tasks = slurm_tasks(out);
  REQUIRE(tasks.size() == 3);
  using State = SlurmTask::State;
  REQUIRE(tasks.at(of("base", 1)).state == State::queued);
  REQUIRE(described(tasks.at(of("base", 1))) == "task 12_0: Resources");
  REQUIRE(described({State::queued, "12_0", ""}) == "task 12_0");
  REQUIRE(tasks.at(of("A-h1", 1)).state == State::running);
  REQUIRE(tasks.at(of("A-h1", 1)).id == "12_1");
  REQUIRE(tasks.at(of("base", 20)).state == State::ended);
  REQUIRE(tasks.at(of("base", 20)).detail == "TIMEOUT");

  place.write_program("squeue",
                      "#!/bin/sh\necho 'slurm_load_jobs error: no controller' >&2\nexit 1\n");
  REQUIRE_THROWS_WITH(slurm_tasks(out), "squeue: slurm_load_jobs error: no controller");
  write_file(out / "slurm/mini-1.json", "{");
  REQUIRE_THROWS_WITH(slurm_tasks(out), Contains("scancel --name=mini-1, and remove the file"));
}

TEST_CASE("slurm: sbatch is given the script and a place for logs, and answers with the job") {
  const HostilePlace place;
  const Path path(place.path().string() + ":" + std::getenv("PATH"));
  place.write_program("sbatch", R"sh(#!/bin/sh
case "$2" in --output=*\ #%%a/out/slurm/%x_%a.log) ;; *) exit 9;; esac
[ "$3 $4" = "--job-name=mini-1 --" ] || exit 9
cp "$5" "$5.got"
echo '12;cluster'
)sh");
  const auto job = place.job();
  REQUIRE(submit(job) == "12");
  REQUIRE(read_file(place.path() / "out/slurm/mini-1.sh.got") == slurm_script(job));
}

TEST_CASE("slurm: without its commands the reason is said") {
  const TemporaryFolder empty;
  const HostilePlace place;
  const Path path((empty / "").string());
  REQUIRE_THROWS_WITH(
      submit(place.job()),
      Contains("sbatch: cannot start: No such file or directory; it is one of Slurm's commands"));
}

TEST_CASE("slurm: what is neither done nor in hand is missing") {
  const auto run = [](RunState state, std::optional<SlurmTask::State> task) {
    SlurmRun made{{"base", 1, state, {}, ""}};
    if (task) made.task = SlurmTask{*task, "1_0", ""};
    return made;
  };
  using State = SlurmTask::State;
  REQUIRE(run(RunState::missing, std::nullopt).is_missing());
  REQUIRE(run(RunState::interrupted, State::ended).is_missing());
  REQUIRE(run(RunState::failed, State::ended).is_missing());
  REQUIRE(run(RunState::failed, State::queued).is_queued());
  REQUIRE(run(RunState::running, State::queued).is_running());  // the queue was looked at before
  REQUIRE(run(RunState::interrupted, State::running).is_running());
  for (const auto state : {RunState::complete, RunState::diverged}) {
    REQUIRE_FALSE(run(state, std::nullopt).is_missing());
    REQUIRE_FALSE(run(state, State::ended).is_missing());
  }
  for (const auto task : {State::queued, State::running}) {
    for (const auto state : {RunState::missing, RunState::failed, RunState::interrupted}) {
      REQUIRE_FALSE(run(state, task).is_missing());
    }
  }
}
