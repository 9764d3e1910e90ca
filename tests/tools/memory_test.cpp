#include <algorithm>

#include "tests/catch.h"
#include "tests/tools/workplace.h"
#include "transformer/files.h"
#include "transformer/json.h"

using namespace transformer;
using Catch::Matchers::Contains;

namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr bool kIsUsual = false;  // a sanitizer has memory of its own, and much of it
#else
constexpr bool kIsUsual = true;
#endif

// What the program needs of address space, in KiB for ulimit -v, to train a tiny model.
int64_t least_address_space(const Workplace& place) {
  constexpr int64_t kStep = int64_t{64} << 10;
  int64_t limit = int64_t{256} << 10;
  const auto fits = [&] {
    return place.train("least", {}, "ulimit -v " + std::to_string(limit) + " &&").code == 0;
  };
  while (!fits()) limit += kStep;
  return limit;
}

std::string limited_to(int64_t limit, const std::string& also = "") {
  return "ulimit -v " + std::to_string(limit) + " && " + also;
}

// Beside that, in KiB: enough for arenas that malloc reserves by chance (64 MiB a thread), too
// little for the batches below.
constexpr int64_t kSpare = int64_t{256} << 10;

// Little work and much to keep: many narrow layers, and the whole text in one batch.
const std::vector<std::string> kDeep = {
    "model.N=48",      "model.d_model=64",       "model.d_ff=64",      "data.tokens_per_batch=6000",
    "decoding.beam=1", "training.train_steps=1", "decoding.alpha=0.0", "model.norm_placement=pre"};

}  // namespace

TEST_CASE("memory: a run's peak is within 20 % of what the dry run says", "[e2e]") {
  if (!kIsUsual) return;
  const Workplace place;
  const std::vector<std::vector<std::string>> shapes = {
      {"model.N=1"},
      {"model.N=12", "model.d_model=64", "model.d_ff=128", "data.tokens_per_batch=2000"},
      {"model.N=2", "model.d_model=256", "model.d_ff=1024", "model.h=8",
       "data.tokens_per_batch=1500", "model.norm_placement=pre", "model.feed_forward=swiglu"},
      {"model.N=2", "model.d_model=512", "model.d_ff=1024", "model.h=32",
       "data.tokens_per_batch=500", "model.positions=rope", "model.norm=rms"},
      {"model.family=decoder_only", "model.N=12", "model.d_model=64", "model.d_ff=128",
       "data.tokens_per_batch=2000"},
      {"model.family=encoder_only", "model.N=2", "model.d_model=256", "model.d_ff=1024",
       "model.h=8", "data.tokens_per_batch=1500"}};
  for (size_t i = 0; i < shapes.size(); ++i) {
    const std::string out = "run-" + std::to_string(i);
    const auto ran = place.train(out, shapes[i]);
    INFO(ran.err);
    REQUIRE(ran.code == 0);
    std::vector<std::string> words = {
        "sweep", "configs/mini.json", "--dry-run", "--json", "--gflops", "1", "--threads", "1"};
    const auto settings = place.settings(shapes[i]);
    words.insert(words.end(), settings.begin(), settings.end());
    const auto dry = run_program(words);
    INFO(dry.err);
    REQUIRE(dry.code == 0);
    const auto predicted = parse_json(dry.out, "dry run")["rows"][0]["memory_bytes"].get<double>();
    const auto measured =
        read_json(place.file(out + "/result.json"))["peak_memory_bytes"].get<double>();
    INFO(i << ": predicted " << predicted / (1 << 20) << " MiB, measured " << measured / (1 << 20));
    REQUIRE(predicted / measured > 0.8);
    REQUIRE(predicted / measured < 1.2);
  }
}

TEST_CASE("memory: training that cannot fit is refused before the model is made", "[e2e]") {
  if (!kIsUsual) return;
  const Workplace place;
  const int64_t least = least_address_space(place);
  const auto ran = place.train("run", kDeep, limited_to(least + kSpare));
  refused(ran, 2, "ulimit -v has ");
  for (const char* said : {" sentences of up to ", "parameters with gradients and Adam's moments",
                           "data.tokens_per_batch is 6000, training.accumulate 1; ",
                           "data.tokens_per_batch=", "TRANSFORMER_MEMORY_CHECK=0"}) {
    REQUIRE_THAT(ran.err, Contains(said));
  }
}

TEST_CASE("memory: the largest batch fails before the first step, with the numbers to change",
          "[e2e]") {
  if (!kIsUsual) return;
  const Workplace place;
  const int64_t least = least_address_space(place);
  const auto ran =
      place.train("run", kDeep, limited_to(least + kSpare, "TRANSFORMER_MEMORY_CHECK=0"));
  refused(ran, 2, "training: the largest batch, ");
  REQUIRE_THAT(ran.err, Contains("does not fit into memory") &&
                            Contains("data.tokens_per_batch is 6000, training.accumulate 1; "));
  REQUIRE_THROWS(read_file(place.file("run/metrics.jsonl")));  // no step was made
  // What it says does fit, or says again what may: an address space has gaps that nothing tells of.
  auto words = kDeep;
  std::erase(words, "data.tokens_per_batch=6000");
  std::string said = ran.err;
  for (int tries = 0; tries < 3; ++tries) {
    const std::string advised = "data.tokens_per_batch=";
    const auto at = said.find(advised, said.find("; take a smaller model"));
    INFO(said);
    REQUIRE(at != std::string::npos);
    auto smaller = words;
    smaller.push_back(said.substr(at, said.find(' ', at) - at));
    const auto fits = place.train("smaller", smaller, limited_to(least + kSpare));
    if (fits.code == 0) return;
    said = fits.err;
  }
  FAIL(said);
}

TEST_CASE("memory: a beam that cannot fit and a line that is no sentence are refused", "[e2e]") {
  const Workplace place;
  REQUIRE(place.train("run").code == 0);
  const auto translate = [&](const std::string& input, const std::string& before) {
    return run_program({"translate", "--checkpoint", place.file("run"), "decoding.beam=10000",
                        "decoding.max_extra_length=0", "decoding.tokens_per_batch=1000000000"},
                       input, before);
  };
  if (kIsUsual) {
    const int64_t least = least_address_space(place);
    std::string lines;
    for (int i = 0; i < 50; ++i) lines += "the old man\n";
    refused(translate(lines, limited_to(least + kSpare)), 2, "lower decoding.beam");
  }
  refused(translate(std::string((1 << 20) + 1, 'a') + "\n", ""), 2,
          "line 1: 1048577 bytes; a line may have 1048576");
}
