#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <iostream>

#include "experiments/cores.h"
#include "experiments/interrupts.h"
#include "experiments/run.h"
#include "experiments/run_limits.h"
#include "tools/commands/arguments.h"
#include "tools/commands/commands.h"
#include "tools/commands/model_options.h"
#include "tools/commands/replay.h"
#include "tools/status_line.h"
#include "transformer/error.h"
#include "transformer/train/data_parallel.h"
#include "transformer/train/device.h"

namespace transformer {

namespace {

std::string number(const char* format, double value) {
  char text[32];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

// Says each event of a run on the status line.
class Narrator {
 public:
  void start(const Config& config, int64_t parameters) {
    steps_ = config.training.train_steps;
    status_.say(grouped(parameters) + " parameters, " + grouped(steps_) + " steps");
  }
  void operator()(const TrainingEvent& event) { std::visit(*this, event); }
  void operator()(const StepLogged& e) {
    status_.update(status_.bar(static_cast<double>(e.step) / static_cast<double>(steps_)) +
                   " step " + grouped(e.step) + "  loss " + number("%.3f", e.loss) + "  rate " +
                   number("%.2e", e.learning_rate) + "  " +
                   grouped(static_cast<int64_t>(e.tokens_per_second)) + " tokens/s  " + last_ +
                   duration(e.seconds_left) + " left");
  }
  void operator()(const Validated& e) {
    last_ = "valid PPL " + number("%.2f", e.perplexity) + " at " + grouped(e.step) + "  ";
  }
  void operator()(const Diagnosed&) {}
  void operator()(const CheckpointWritten&) {}
  void operator()(const Resumed& e) {
    std::string lost;
    if (e.lost_steps > 0) {
      lost = "; what was trained after it, up to step " + grouped(e.step + e.lost_steps) +
             ", is lost and trained again";
    }
    status_.say(e.step > 0 ? "goes on after step " + grouped(e.step) + lost
                           : "no checkpoint is sound: all " + grouped(e.lost_steps) +
                                 " steps are lost and trained again");
  }
  void operator()(const CheckpointPassedOver& e) {
    status_.say("a checkpoint is damaged: " + e.reason);
  }
  void translating(size_t done, size_t all) {
    status_.update(status_.bar(static_cast<double>(done) / static_cast<double>(all)) +
                   " translating data.valid for BLEU");
  }
  void say(const std::string& text) { status_.say(text); }

 private:
  StatusLine status_;
  int64_t steps_ = 0;
  std::string last_;
};

// Where the thread that trains waits in a device's library, and cannot be told by an exception.
void end_at_once(const std::string& why) {
  std::fprintf(stderr, "transformer: %s\n", why.c_str());
  _exit(1);
}

// Where a signal came to another rank alone, this one ends as if SIGTERM had come.
int stopped_code(const Interrupts& interrupts) {
  const int code = interrupts.exit_code();
  return code == 0 ? 128 + SIGTERM : code;
}

int follow(const torch::Device& device, const Interrupts& interrupts, Ranks& ranks) {
  return follow_experiment(device, interrupts.asked(), ranks) ? 0 : stopped_code(interrupts);
}

}  // namespace

int train_command(int argc, char** argv) {
  cxxopts::Options options("transformer train");
  options.add_options()("out", "the run's folder; one that holds a run of this config goes on",
                        cxxopts::value<std::string>())(
      "replay", "instead: run a step again that was not finite, from what its run left of it",
      cxxopts::value<std::string>(), "DUMP")("json", "print result.json to stdout");
  add_device_options(options);
  options.add_options()("cores", "run on these cores alone: 0,1", cxxopts::value<std::string>())(
      "rank-timeout", "of several processes: end where one is silent, or waited for, so long",
      cxxopts::value<std::string>()->default_value("5m"), "T");
  const auto arguments = parse(
      options,
      {.name = "train",
       .summary = "Trains an experiment and evaluates it on data.valid. Killed and started again "
                  "with the same folder, it goes on and ends with the same weights.\n"
                  "Started as several processes, by torchrun --no-python or srun, it trains data "
                  "parallel: each process has a device and its share of every batch.",
       .usage = "CONFIG --out RUN [key=value...] | --replay DUMP",
       .example = "transformer train configs/mini.json --out runs/pre model.norm_placement=pre",
       .most = 1,
       .with_overrides = true},
      argc, argv);
  if (!arguments) return 0;
  if (arguments->has("cores"))
    use_cores(read_numbers(arguments->get<std::string>("cores"), "--cores", "cores"));
  if (arguments->has("replay")) {
    const std::string file = arguments->get<std::string>("replay");
    const auto device = device_of(*arguments);
    const StepDump dump = read_dump(file);
    if (!arguments->has("threads")) use_threads(dump.threads);
    return replay_step(dump, file, device);
  }
  if (arguments->positional.empty()) {
    throw UserError("train: too few arguments; expected CONFIG, or --replay DUMP");
  }
  if (!arguments->has("out")) throw UserError("train: expected --out RUN, the folder to train in");
  const Config config = load_config(arguments->positional[0], arguments->overrides);
  const auto place = rendezvous_of_environment();
  const auto device = place ? device_of(*arguments, place->local_rank) : device_of(*arguments);
  const auto timeout = read_duration(arguments->get<std::string>("rank-timeout"), "--rank-timeout");

  Narrator narrator;
  const Interrupts interrupts(Interrupts::Second::ends_the_process);
  const auto ranks = place ? std::make_unique<Ranks>(*place, device, timeout, end_at_once)
                           : std::make_unique<Ranks>();
  if (!ranks->is_first()) return follow(device, interrupts, *ranks);
  interrupts.announce(
      "stopping; word-pieces that are being learned are learned first; a second signal ends it at "
      "once");
  bool has_begun = false;
  const RunEvents events{
      .on_start =
          [&](const Config& c, int64_t parameters) {
            has_begun = true;
            interrupts.announce("stopping with a checkpoint; a second signal ends it at once");
            narrator.start(c, parameters);
          },
      .on_training = [&](const TrainingEvent& event) { narrator(event); },
      .on_translating = [&](size_t done, size_t all) { narrator.translating(done, all); },
      .on_note = [&](const std::string& text) { narrator.say(text); }};
  const auto result = run_experiment(config, arguments->get<std::string>("out"), device,
                                     interrupts.asked(), events, *ranks);
  if (!result) {
    narrator.say(std::string(has_begun ? "stopped with a checkpoint" : "stopped") +
                 "; run the same command again to go on");
    return stopped_code(interrupts);
  }
  if (arguments->has("json")) {
    std::cout << text_of(to_json(*result), 2) << "\n";
  } else {
    std::cout << config.data.valid << ": perplexity " << number("%.3f", result->perplexity);
    if (result->bleu) {
      std::cout << "  BLEU " << number("%.2f", *result->bleu) << "  (" << result->bleu_signature
                << ")";
    }
    std::cout << "\n";
  }
  return 0;
}

}  // namespace transformer
