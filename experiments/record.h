#pragma once

// What is kept of a run and of a sweep: DIR/ROW/seed-S/result.json and DIR/results.json.

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "experiments/machine.h"
#include "transformer/fields.h"

namespace transformer {

// Stands first in result.json and results.json. A file with another one is refused, never guessed
// at.
constexpr int64_t kSchemaVersion = 1;

// A complete run: result.json is there if and only if the run is complete.
struct Result {
  int64_t parameters = 0;  // every trained scalar once, tied matrices once
  double perplexity = 0;   // of data.valid, per word-piece (masked ones alone of an encoder_only
                           // model), without label smoothing
  std::optional<double> bleu;  // of data.valid; of a model that translates
  std::string bleu_signature;  // empty where there is no BLEU
  int64_t train_steps = 0;
  int64_t source_tokens = 0;  // trained on, end-of-sentence included
  int64_t target_tokens = 0;
  double seconds = 0;  // of training; the parts of a resumed run added
  double tokens_per_second = 0;
  double flops = 0;               // of the whole training
  int64_t peak_memory_bytes = 0;  // of training and evaluation, by the process that ended the run
  int64_t seed = 0;
  int64_t threads = 0;
  std::string config_fingerprint;
  std::string data_fingerprint;
  std::string vocabulary_fingerprint;
  std::string version;
  std::string commit;
  Machine machine;
  Json config;  // resolved

  static void visit(auto& self, auto&& field) {
    field("parameters", self.parameters);
    field("perplexity", self.perplexity);
    field("bleu", self.bleu);
    field("bleu_signature", self.bleu_signature);
    field("train_steps", self.train_steps);
    field("source_tokens", self.source_tokens);
    field("target_tokens", self.target_tokens);
    field("seconds", self.seconds);
    field("tokens_per_second", self.tokens_per_second);
    field("flops", self.flops);
    field("peak_memory_bytes", self.peak_memory_bytes);
    field("seed", self.seed);
    field("threads", self.threads);
    field("config_fingerprint", self.config_fingerprint);
    field("data_fingerprint", self.data_fingerprint);
    field("vocabulary_fingerprint", self.vocabulary_fingerprint);
    field("version", self.version);
    field("commit", self.commit);
    field("machine", self.machine);
    field("config", self.config);
  }
};

// Throws Damaged (sealed_json.h) where the file is not what was written, and UserError on another
// schema version, or where a later version of this program wrote what is not known here.
Result read_result(const std::filesystem::path& path);
void write_result(const std::filesystem::path& path, const Result& result);

// The paper's figures for a row; it does not print each of them for each row.
struct PaperFigures {
  std::optional<double> perplexity;
  std::optional<double> bleu;
  std::optional<double> parameters;  // 65e6, not 65

  static void visit(auto& self, auto&& field) {
    field("perplexity", self.perplexity);
    field("bleu", self.bleu);
    field("parameters", self.parameters);
  }
  friend bool operator==(const PaperFigures&, const PaperFigures&) = default;
};

// SWEEP/ROW/seed-S.
std::filesystem::path run_folder_in(const std::filesystem::path& sweep, const std::string& row,
                                    int64_t seed);

// One row of a sweep, run once with each seed.
struct RowRecord {
  std::string id;
  std::string group;          // "base", "A", ..., "big" in Table 3; may be empty
  Json set = Json::object();  // what it sets over the sweep's base, by dotted key
  PaperFigures paper;
  Json config;  // as resolved; only the seed differs between its runs
  Json departures =
      Json::array();  // of a row of Table 3: where it is not the paper's (departures.h)

  static void visit(auto& self, auto&& field) {
    field("id", self.id);
    field("group", self.group);
    field("set", self.set);
    field("paper", self.paper);
    field("config", self.config);
    field("departures", self.departures);
  }
};

// 0 where a file written by hand does not say.
int64_t train_steps_stated_in(const RowRecord& row);

// A run that diverged is done, and a result as a complete one is: a loss or gradient was not
// finite, and would not be if it were trained again.
enum class RunState { complete, failed, running, missing, interrupted, diverged };
constexpr auto names(RunState) {
  return std::array{"complete", "failed", "running", "missing", "interrupted", "diverged"};
}

// One (row, seed). In JSON the result's fields stand beside id, seed and state.
struct RunRecord {
  std::string id;  // the row's
  int64_t seed = 0;
  RunState state = RunState::missing;
  std::optional<Result> result;  // if and only if complete
  // Of a failed or diverged run: why. Of an interrupted one: "at step 300 of 900". May be empty.
  std::string message{};
  std::optional<int64_t> diverged_at{};  // the step; if and only if diverged
  // Complete, and its folder has no result.json any more: these figures are all that stands of it.
  // Told by who looks at the folder, not written.
  bool is_lost = false;
};

// results.json.
struct Results {
  Json sweep = Json::object();     // the sweep as resolved
  std::vector<RowRecord> rows;     // in the table's order
  std::vector<RunRecord> results;  // every (row, seed) of the sweep, complete or not
};

// Throws UserError as read_result does; also where two rows have one id, where a run belongs to no
// row or is there twice.
Results read_results(const std::filesystem::path& path);
void write_results(const std::filesystem::path& path, const Results& results);

}  // namespace transformer
