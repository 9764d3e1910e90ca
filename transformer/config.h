#pragma once

// What an experiment is: one JSON file with four sections. Every default stands here and nowhere
// else.

#include <array>
#include <filesystem>
#include <string>
#include <vector>

#include "transformer/choices/family.h"
#include "transformer/choices/feed_forward.h"
#include "transformer/choices/norm.h"
#include "transformer/choices/norm_placement.h"
#include "transformer/choices/positions.h"
#include "transformer/fields.h"

namespace transformer {

// noam: factor · d_model^-0.5 · min(step^-0.5, step · warmup_steps^-1.5), equation 3.
// The others start from learning_rate, after a linear warm-up: constant; cosine to 0 at
// train_steps; inverse_sqrt: learning_rate · (warmup_steps / step)^0.5.
enum class ScheduleKind { noam, constant, cosine, inverse_sqrt };
constexpr auto names(ScheduleKind) {
  return std::array{"noam", "constant", "cosine", "inverse_sqrt"};
}

// Of the matrix products in training; all else is float32 (transformer/train/precision.h).
enum class Precision { float32, bfloat16 };
constexpr auto names(Precision) { return std::array{"float32", "bfloat16"}; }

// gnmt: ((5 + length) / 6)^alpha, the paper's (Wu et al. 2016, equation 14). power: length^alpha.
enum class LengthPenalty { gnmt, power };
constexpr auto names(LengthPenalty) { return std::array{"gnmt", "power"}; }

struct ModelConfig {
  Family family = Family::encoder_decoder;
  int64_t N = 6;          // layers of each stack: of the encoder, and of the decoder
  int64_t d_model = 512;  // width of the residual stream
  int64_t d_ff = 2048;    // inner width of the feed-forward layer
  int64_t h = 8;          // attention heads
  Derived d_k;            // a head's query and key width; d_model / h unless stated
  Derived d_v;            // a head's value width; d_model / h unless stated
  Derived
      kv_heads;  // heads of keys and values, shared by h / kv_heads queries each; h unless stated
  double P_drop = 0.1;           // dropout on each sublayer's output and on embedding + position
  double attention_drop = 0.0;   // on the attention weights
  double activation_drop = 0.0;  // inside the feed-forward layer, after its activation
  NormPlacement norm_placement = NormPlacement::post;
  NormKind norm = NormKind::layer;
  double norm_epsilon = 1e-6;
  PositionKind positions = PositionKind::sinusoidal;
  int64_t max_positions = 512;  // rows of the learned position tables
  FeedForwardKind feed_forward = FeedForwardKind::relu;
  FeedForwardWidth feed_forward_width = FeedForwardWidth::stated;
  bool attention_bias = false;  // a bias in the projections q, k, v and o
  bool tie_embeddings = true;   // one matrix for source, target and output projection
  Derived V;         // word-pieces of the target vocabulary; the vocabulary's unless stated
  Derived source_V;  // of the source vocabulary; V unless stated; of no use where no source is read

  int64_t inner_width() const {
    return transformer::inner_width(feed_forward, feed_forward_width, d_ff);
  }

  static void visit(auto& self, auto&& field) {
    field("family", self.family);
    field("N", self.N);
    field("d_model", self.d_model);
    field("d_ff", self.d_ff);
    field("h", self.h);
    field("d_k", self.d_k);
    field("d_v", self.d_v);
    field("kv_heads", self.kv_heads);
    field("P_drop", self.P_drop);
    field("attention_drop", self.attention_drop);
    field("activation_drop", self.activation_drop);
    field("norm_placement", self.norm_placement);
    field("norm", self.norm);
    field("norm_epsilon", self.norm_epsilon);
    field("positions", self.positions);
    field("max_positions", self.max_positions);
    field("feed_forward", self.feed_forward);
    field("feed_forward_width", self.feed_forward_width);
    field("attention_bias", self.attention_bias);
    field("tie_embeddings", self.tie_embeddings);
    field("V", self.V);
    field("source_V", self.source_V);
  }
  friend bool operator==(const ModelConfig&, const ModelConfig&) = default;
};

// Paths are relative to the folder the program runs in. A corpus is named by its prefix: PREFIX.en
// and PREFIX.de, a sentence a line, the same number of lines in both.
struct DataConfig {
  std::vector<std::string> train;  // one prefix or several, read one after the other
  std::string valid;
  std::string test;
  std::string source_language = "en";
  std::string target_language = "de";
  std::string vocabulary;         // SentencePiece model, shared by both languages
  std::string source_vocabulary;  // of the source alone, when the two differ; else empty
  int64_t max_length = 256;       // training pairs with more word-pieces on a side are dropped
  double max_length_ratio = 4.0;  // and those whose sides differ by more than this, above 10 pieces
  int64_t tokens_per_batch =
      25000;  // sentences × the longest of them, on each side, padding included
  std::string
      make;  // the command that makes these files, shown when one is missing; never executed

  static void visit(auto& self, auto&& field) {
    field("train", self.train);
    field("valid", self.valid);
    field("test", self.test);
    field("source_language", self.source_language);
    field("target_language", self.target_language);
    field("vocabulary", self.vocabulary);
    field("source_vocabulary", self.source_vocabulary);
    field("max_length", self.max_length);
    field("max_length_ratio", self.max_length_ratio);
    field("tokens_per_batch", self.tokens_per_batch);
    field("make", self.make);
  }
  friend bool operator==(const DataConfig&, const DataConfig&) = default;
};

struct TrainingConfig {
  int64_t train_steps = 100000;
  int64_t warmup_steps = 4000;
  ScheduleKind schedule = ScheduleKind::noam;
  double factor = 1.0;          // of the noam schedule
  double learning_rate = 1e-3;  // the peak of the other schedules
  double eps_ls = 0.1;  // label smoothing: 1 - eps_ls on the target, eps_ls / V on every entry
  double beta1 = 0.9;
  double beta2 = 0.98;
  double epsilon = 1e-9;   // Adam's
  double clip_norm = 0.0;  // gradients are scaled down to this L2 norm; 0: never
  int64_t accumulate = 1;  // batches a step; the loss is the mean over all their target tokens
  Precision precision = Precision::float32;
  int64_t seed = 1;
  int64_t log_every = 50;
  int64_t validate_every = 1000;  // perplexity on data.valid; 0: only at the end
  int64_t checkpoint_every = 1000;
  int64_t diagnostics_every = 0;  // layer by layer, into diagnostics.jsonl; 0: never
  int64_t average_last = 5;       // checkpoints averaged into the final model; 1: the last alone

  static void visit(auto& self, auto&& field) {
    field("train_steps", self.train_steps);
    field("warmup_steps", self.warmup_steps);
    field("schedule", self.schedule);
    field("factor", self.factor);
    field("learning_rate", self.learning_rate);
    field("eps_ls", self.eps_ls);
    field("beta1", self.beta1);
    field("beta2", self.beta2);
    field("epsilon", self.epsilon);
    field("clip_norm", self.clip_norm);
    field("accumulate", self.accumulate);
    field("precision", self.precision);
    field("seed", self.seed);
    field("log_every", self.log_every);
    field("validate_every", self.validate_every);
    field("checkpoint_every", self.checkpoint_every);
    field("diagnostics_every", self.diagnostics_every);
    field("average_last", self.average_last);
  }
  friend bool operator==(const TrainingConfig&, const TrainingConfig&) = default;
};

struct DecodingConfig {
  int64_t beam = 4;
  double alpha = 0.6;  // length penalty
  LengthPenalty length_penalty = LengthPenalty::gnmt;
  int64_t max_extra_length = 50;  // a translation has at most the input's pieces and this many more
  // Both bound a batch and change speed and memory; a translation only where two hypotheses' scores
  // are as near as rounding.
  int64_t sentences_per_batch = 32;
  int64_t tokens_per_batch = 25000;  // sentences × beam × the most pieces one may be given

  static void visit(auto& self, auto&& field) {
    field("beam", self.beam);
    field("alpha", self.alpha);
    field("length_penalty", self.length_penalty);
    field("max_extra_length", self.max_extra_length);
    field("sentences_per_batch", self.sentences_per_batch);
    field("tokens_per_batch", self.tokens_per_batch);
  }
  friend bool operator==(const DecodingConfig&, const DecodingConfig&) = default;
};

struct Config {
  ModelConfig model;
  DataConfig data;
  TrainingConfig training;
  DecodingConfig decoding;

  static void visit(auto& self, auto&& field) {
    field("model", self.model);
    field("data", self.data);
    field("training", self.training);
    field("decoding", self.decoding);
  }
  friend bool operator==(const Config&, const Config&) = default;
};

// Reads a config file over its "base" (a path relative to the file's folder; bases may have bases),
// without resolving it. Throws UserError.
Config read_config(const std::filesystem::path& path);

// Applies "section.key=value". Throws UserError, also where a key is given twice.
void override_config(Config& config, const std::vector<std::string>& overrides);

// Fills what follows from other keys (d_k, d_v, kv_heads; source_V where V is stated) and checks
// ranges and the rules between keys. `where` stands before each message. Throws UserError.
Config resolve(Config config, const std::string& where = "");

// Stands before a message where the file stands else: what is wrong came with the overrides.
constexpr const char* kCommandLine = "command line";

// The three in turn: what every command that takes a CONFIG does. What the file has wrong by itself
// is said of the file, all else of the command line.
Config load_config(const std::filesystem::path& path,
                   const std::vector<std::string>& overrides = {});

// Of everything that decides what is learned: two runs with the same one would end with the same
// model.
std::string config_fingerprint(const Config& config);

}  // namespace transformer
