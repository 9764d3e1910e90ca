#include <cstdio>
#include <iostream>

#include "experiments/machine.h"
#include "tools/commands/arguments.h"
#include "tools/commands/bench_commands.h"
#include "transformer/clock.h"
#include "transformer/data/batches.h"
#include "transformer/data/dataset.h"
#include "transformer/json.h"
#include "transformer/resident_memory.h"

namespace transformer {

namespace {

struct DataTimes {
  double make_seconds = 0;  // 0 where the corpus was there already
  double open_seconds = 0;
  double plan_seconds = 0;
  double batch_seconds = 0;
  double longest_wait = 0;  // for one batch after the first
  int64_t batches = 0;
  int64_t tokens = 0;  // both sides
  int64_t padded = 0;
};

// An epoch at most, `batches` where that is less; taken as fast as they come.
DataTimes read_epoch(const Config& config, const Corpus& corpus, int64_t batches) {
  DataTimes times;
  auto start = Clock::now();
  plan_epoch(corpus, config.data.tokens_per_batch, config.training.seed, 0);
  times.plan_seconds = seconds_since(start);
  BatchStream stream(corpus, config.data.tokens_per_batch, config.training.seed, {});
  stream.next();
  start = Clock::now();
  const int64_t most = std::min(batches, stream.batches() - 1);
  for (; times.batches < most; ++times.batches) {
    const auto asked = Clock::now();
    const Batch batch = stream.next();
    times.longest_wait = std::max(times.longest_wait, seconds_since(asked));
    times.tokens += batch.source_tokens + batch.target_tokens;
    times.padded += batch.sentences * (batch.source_length + batch.target_length);
  }
  times.batch_seconds = seconds_since(start);
  return times;
}

Json data_report(const DataTimes& times, const Corpus& corpus) {
  const auto all = static_cast<double>(corpus.source_tokens() + corpus.target_tokens());
  const auto pairs = static_cast<double>(corpus.size());
  const auto rate = [](double amount, double seconds) {
    return seconds > 0 ? Json(amount / seconds) : Json();
  };
  return {{"pairs", corpus.size()},
          {"tokens", all},
          {"make_seconds", times.make_seconds},
          {"pairs_per_second_made", rate(pairs, times.make_seconds)},
          {"open_seconds", times.open_seconds},
          {"plan_seconds", times.plan_seconds},
          {"batches", times.batches},
          {"tokens_per_second", rate(static_cast<double>(times.tokens), times.batch_seconds)},
          {"longest_wait_seconds", times.longest_wait},
          {"real_tokens", times.padded == 0 ? Json()
                                            : Json(static_cast<double>(times.tokens) /
                                                   static_cast<double>(times.padded))},
          {"memory_bytes", memory_status("RssAnon").value_or(0)},
          {"file_pages_bytes", memory_status("RssFile").value_or(0)},
          {"machine", to_json(this_machine())}};
}

void print_data(const Json& r) {
  const auto number = [&](const char* key) { return r[key].is_null() ? 0 : r[key].get<double>(); };
  std::printf("corpus             %.0f pairs, %.0f word-pieces\n", number("pairs"),
              number("tokens"));
  if (number("make_seconds") > 0) {
    std::printf("cleaned, binarised %.1f s, %.0f pairs/s\n", number("make_seconds"),
                number("pairs_per_second_made"));
  }
  std::printf("opened             %.3f s, checksums included\n", number("open_seconds"));
  std::printf("an epoch planned   %.3f s\n", number("plan_seconds"));
  std::printf("batches            %.0f, %.3e word-pieces/s; longest wait %.4f s\n",
              number("batches"), number("tokens_per_second"), number("longest_wait_seconds"));
  std::printf("real tokens        %.1f %% of a padded batch\n", 100 * number("real_tokens"));
  std::printf(
      "memory             %.0f MiB of its own; %.0f MiB of pages of files, which the "
      "system takes back when it needs them\n",
      number("memory_bytes") / (1 << 20), number("file_pages_bytes") / (1 << 20));
}

}  // namespace

int bench_data_command(int argc, char** argv) {
  cxxopts::Options options("transformer bench data");
  options.add_options()("batches", "as many, or an epoch where that has fewer",
                        cxxopts::value<std::string>()->default_value("1000"))("json",
                                                                              "figures as JSON");
  const auto arguments = parse(
      options,
      {.name = "bench data",
       .summary = "Times what training reads: opening data.train (cleaning and binarising it where "
                  "that has\nnot been done), planning an epoch, and batches taken as fast as they "
                  "come.",
       .usage = "CONFIG [key=value...]",
       .example = "transformer bench data configs/small.json",
       .fewest = 1,
       .most = 1,
       .with_overrides = true},
      argc, argv);
  if (!arguments) return 0;
  const Config config = load_config(arguments->positional[0], arguments->overrides);
  const int64_t batches = arguments->integer("batches", 1);
  const auto [source, target] = open_vocabularies(config);
  const auto open = [&] { return prepare_training(config.data, source, target); };
  auto start = Clock::now();
  const bool was_made = !open().note.empty();
  const double first = seconds_since(start);
  start = Clock::now();
  const auto prepared = open();
  const double open_seconds = seconds_since(start);
  auto times = read_epoch(config, prepared.corpus, batches);
  times.open_seconds = open_seconds;
  times.make_seconds = was_made ? first : 0;
  const Json result = data_report(times, prepared.corpus);
  if (arguments->has("json")) {
    std::cout << text_of(result, 2) << "\n";
  } else {
    print_data(result);
  }
  return 0;
}

}  // namespace transformer
