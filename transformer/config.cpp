#include "transformer/config.h"

#include <algorithm>
#include <limits>
#include <set>

#include "transformer/config_file.h"
#include "transformer/files.h"
#include "transformer/fingerprint.h"

namespace transformer {
namespace fs = std::filesystem;

namespace {

// Checks one key after another; `where` is the file.
class Rules {
 public:
  explicit Rules(const std::string& where) : prefix_(where.empty() ? "" : where + ": ") {}

  void require(bool fits, const std::string& message) const {
    if (!fits) throw UserError(prefix_ + message);
  }
  void in_range(const char* key, int64_t value, int64_t least, int64_t most = kMost) const {
    require(least <= value && value <= most, std::string(key) + ": " + std::to_string(value) +
                                                 " is not in " + std::to_string(least) + ".." +
                                                 std::to_string(most));
  }
  void in_range(const char* key, double value, double least, double most) const {
    require(least <= value && value <= most, std::string(key) + ": " + text_of(value) +
                                                 " is not in " + text_of(least) + ".." +
                                                 text_of(most));
  }
  // [0, 1): a probability that leaves something.
  void probability(const char* key, double value) const {
    require(0 <= value && value < 1,
            std::string(key) + ": " + text_of(value) + " is not in [0, 1)");
  }
  static constexpr int64_t kMost = 1'000'000'000;

 private:
  std::string prefix_;
};

void check(const ModelConfig& model, const Rules& rules) {
  constexpr int64_t kWidest = 1 << 20;
  rules.in_range("model.N", model.N, 1, 10000);
  rules.in_range("model.d_model", model.d_model, 1, kWidest);
  rules.in_range("model.d_ff", model.d_ff, 1, kWidest);
  rules.in_range("model.h", model.h, 1, kWidest);
  rules.in_range("model.d_k", model.d_k, 1, kWidest);
  rules.in_range("model.d_v", model.d_v, 1, kWidest);
  rules.in_range("model.kv_heads", model.kv_heads, 1, kWidest);
  constexpr int64_t kWidestHeads = 1 << 24;  // keeps counts of parameters within 64 bits
  for (const auto& [key, width] : {std::pair{"d_k", &model.d_k}, {"d_v", &model.d_v}}) {
    rules.require(model.h * *width <= kWidestHeads,
                  std::string("model.") + key + ": " + std::to_string(int64_t{*width}) +
                      " × model.h = " + std::to_string(model.h) + " is more than " +
                      std::to_string(kWidestHeads));
  }
  rules.require(model.h % model.kv_heads == 0,
                "model.kv_heads: " + std::to_string(model.kv_heads) +
                    " does not divide model.h = " + std::to_string(model.h));
  rules.probability("model.P_drop", model.P_drop);
  rules.probability("model.attention_drop", model.attention_drop);
  rules.probability("model.activation_drop", model.activation_drop);
  // What float32 still tells from 0, and what leaves something of the variance.
  rules.in_range("model.norm_epsilon", model.norm_epsilon, 1e-30, 1);
  const auto positions = place_of(model.positions);
  rules.require(positions != PositionPlace::table || model.d_model % 2 == 0,
                "model.d_model: " + std::to_string(model.d_model) +
                    " is odd; sinusoidal positions need pairs of columns");
  rules.require(positions != PositionPlace::queries_and_keys || model.d_k % 2 == 0,
                "model.d_k: " + std::to_string(int64_t{model.d_k}) + " is odd; " +
                    name_of(model.positions) + " positions need pairs of columns");
  rules.in_range("model.max_positions", model.max_positions, 1, kWidest);
  if (model.V.stated()) {
    rules.in_range("model.V", model.V, 5, 1 << 24);  // four special pieces and one to say something
    rules.in_range("model.source_V", model.source_V, 5, 1 << 24);
    const bool shares = model.tie_embeddings && reads_source(model.family);
    rules.require(!shares || model.source_V == model.V,
                  "model.source_V: " + std::to_string(model.source_V) +
                      " differs from model.V = " + std::to_string(model.V) +
                      ", but model.tie_embeddings shares one matrix; set it to false");
  } else {
    rules.require(!model.source_V.stated(), "model.source_V: stated without model.V");
  }
}

void check(const DataConfig& data, const Rules& rules) {
  rules.require(data.source_language != data.target_language,
                "data.target_language: \"" + data.target_language +
                    "\" is the source language too; both sides would be one file");
  rules.in_range("data.max_length", data.max_length, 1);
  rules.in_range("data.max_length_ratio", data.max_length_ratio, 1, 1e6);
  rules.in_range("data.tokens_per_batch", data.tokens_per_batch, 1);
}

void check(const TrainingConfig& training, const Rules& rules) {
  rules.in_range("training.train_steps", training.train_steps, 1);
  rules.in_range("training.warmup_steps", training.warmup_steps, 0);
  rules.in_range("training.factor", training.factor, 0, 1e30);
  rules.in_range("training.learning_rate", training.learning_rate, 0, 1e30);
  rules.probability("training.eps_ls", training.eps_ls);
  rules.probability("training.beta1", training.beta1);
  rules.probability("training.beta2", training.beta2);
  rules.in_range("training.epsilon", training.epsilon, 0, 1);
  rules.in_range("training.clip_norm", training.clip_norm, 0, 1e12);
  rules.require(training.clip_norm == 0 || training.clip_norm >= 1e-12,
                "training.clip_norm: expected 0, for never, or at least 1e-12; got " +
                    text_of(training.clip_norm));
  rules.in_range("training.accumulate", training.accumulate, 1, 100000);
  rules.in_range("training.seed", training.seed, 1, std::numeric_limits<int64_t>::max());
  rules.in_range("training.log_every", training.log_every, 1);
  rules.in_range("training.validate_every", training.validate_every, 0);
  rules.in_range("training.checkpoint_every", training.checkpoint_every, 1);
  rules.in_range("training.diagnostics_every", training.diagnostics_every, 0);
  rules.in_range("training.average_last", training.average_last, 1, 1000);
}

void check(const DecodingConfig& decoding, const Rules& rules) {
  rules.in_range("decoding.beam", decoding.beam, 1, 10000);
  rules.in_range("decoding.alpha", decoding.alpha, 0, 100);
  rules.in_range("decoding.max_extra_length", decoding.max_extra_length, 0, 1'000'000);
  rules.in_range("decoding.sentences_per_batch", decoding.sentences_per_batch, 1, 1'000'000);
  rules.in_range("decoding.tokens_per_batch", decoding.tokens_per_batch, 1);
  // A sentence of one piece must fit.
  const int64_t most = decoding.tokens_per_batch / (decoding.max_extra_length + 1);
  rules.require(decoding.beam <= most,
                "decoding.beam: " + std::to_string(decoding.beam) +
                    " hypotheses of decoding.max_extra_length = " +
                    std::to_string(decoding.max_extra_length) +
                    " pieces and more do not fit into decoding.tokens_per_batch = " +
                    std::to_string(decoding.tokens_per_batch) + "; " + std::to_string(most) +
                    " would");
}

bool accepts_text(const std::string& key) {
  try {
    Config unused;
    set_field(unused, key, Json("text"));
    return true;
  } catch (const UserError&) {
    return false;
  }
}

// One that a file names, and not the user: it must have an end, and nobody to be waited for.
fs::path base_of(const fs::path& file, const Json& stated) {
  const std::string where = shown_path(file) + ": base";
  std::string base;
  fields::read(base, stated, where);
  const fs::path path = file.parent_path() / base;
  std::error_code unknown;
  if (fs::exists(path, unknown) && !fs::is_regular_file(path, unknown)) {
    throw UserError(where + ": " + shown_path(path) + " is not a regular file");
  }
  return path;
}

Config read_over_bases(const fs::path& path, std::set<fs::path> seen) {
  constexpr size_t kMostBases = 100;
  const std::string file = shown_path(path);
  std::error_code unknown;  // a pipe has no other name
  const fs::path canonical = fs::weakly_canonical(path, unknown);
  if (!seen.insert(unknown ? path : canonical).second) {
    throw UserError(file + ": base: the files name each other in a circle");
  }
  if (seen.size() > kMostBases) {
    throw UserError(file + ": base: more than " + std::to_string(kMostBases) +
                    " files, each the base of the one before");
  }
  Json json = read_config_file(path);
  Config config;
  if (json.is_object() && json.contains("base")) {
    config = read_over_bases(base_of(path, json["base"]), std::move(seen));
    json.erase("base");
  }
  if (json.is_object() && (json.contains("rows") || json.contains("grid"))) {
    throw UserError(file + ": expected one experiment; this is a sweep: run transformer sweep " +
                    file);
  }
  read_fields(config, json, file);
  return config;
}

// What resolve() refuses; empty where it refuses nothing.
std::string problem_of(const Config& config) {
  try {
    resolve(config);
    return "";
  } catch (const UserError& problem) {
    return problem.what();
  }
}

}  // namespace

Config read_config(const fs::path& path) { return read_over_bases(path, {}); }

void override_config(Config& config, const std::vector<std::string>& overrides) {
  std::set<std::string> given;
  for (const auto& text : overrides) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0) {
      throw UserError(fields::shown_name(text) + ": expected section.key=value, such as model.h=4");
    }
    const std::string key = text.substr(0, equals);
    if (!given.insert(key).second) {
      throw UserError(std::string(kCommandLine) + ": " + fields::shown_name(key) +
                      " is given twice");
    }
    const std::string value = text.substr(equals + 1);
    const Json json = override_value(value);
    try {
      set_field(config, key, json);
    } catch (const UserError&) {
      // A path or a name is text, whatever JSON would make of it: data.vocabulary=1.
      if (json.is_string() || !accepts_text(key)) throw;
      set_field(config, key, Json(value));
    }
  }
}

Config resolve(Config config, const std::string& where) {
  const Rules rules(where);
  auto& model = config.model;
  rules.in_range("model.h", model.h, 1, 1 << 20);  // before it divides
  for (auto [key, width] : {std::pair{"d_k", &model.d_k}, {"d_v", &model.d_v}}) {
    if (width->stated()) continue;
    rules.require(model.d_model % model.h == 0,
                  "model.h: " + std::to_string(model.h) + " does not divide model.d_model = " +
                      std::to_string(model.d_model) + "; state model." + key);
    *width = model.d_model / model.h;
  }
  if (!model.kv_heads.stated()) model.kv_heads = model.h;
  if (model.V.stated() && !model.source_V.stated()) model.source_V = int64_t{model.V};
  check(model, rules);
  check(config.data, rules);
  check(config.training, rules);
  check(config.decoding, rules);
  return config;
}

Config load_config(const fs::path& path, const std::vector<std::string>& overrides) {
  const Config file = read_config(path);
  Config config = file;
  override_config(config, overrides);
  const bool is_the_files = problem_of(config) == problem_of(file);
  return resolve(config, is_the_files ? path.string() : kCommandLine);
}

std::string config_fingerprint(const Config& config) {
  return fingerprint(text_of(to_json(config)));
}

}  // namespace transformer
