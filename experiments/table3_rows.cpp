#include "experiments/table3_rows.h"

#include <map>

#include "transformer/json.h"

namespace transformer {

namespace {

struct PaperRow {
  std::string group;
  Json set;  // over base
};

const std::map<std::string, PaperRow>& paper_rows() {
  static const std::map<std::string, PaperRow> rows = {
      {"base", {"base", Json::object()}},
      {"A-h1", {"A", {{"model.h", 1}}}},
      {"A-h4", {"A", {{"model.h", 4}}}},
      {"A-h16", {"A", {{"model.h", 16}}}},
      {"A-h32", {"A", {{"model.h", 32}}}},
      {"B-k16", {"B", {{"model.d_k", 16}}}},
      {"B-k32", {"B", {{"model.d_k", 32}}}},
      {"C-N2", {"C", {{"model.N", 2}}}},
      {"C-N4", {"C", {{"model.N", 4}}}},
      {"C-N8", {"C", {{"model.N", 8}}}},
      {"C-d256", {"C", {{"model.d_model", 256}}}},
      {"C-d1024", {"C", {{"model.d_model", 1024}}}},
      {"C-ff1024", {"C", {{"model.d_ff", 1024}}}},
      {"C-ff4096", {"C", {{"model.d_ff", 4096}}}},
      {"D-drop0", {"D", {{"model.P_drop", 0.0}}}},
      {"D-drop0.2", {"D", {{"model.P_drop", 0.2}}}},
      {"D-ls0", {"D", {{"training.eps_ls", 0.0}}}},
      {"D-ls0.2", {"D", {{"training.eps_ls", 0.2}}}},
      {"E", {"E", {{"model.positions", "learned"}}}},
      {"big",
       {"big",
        {{"model.d_model", 1024},
         {"model.d_ff", 4096},
         {"model.h", 16},
         {"model.P_drop", 0.3},
         {"training.train_steps", 300000}}}}};
  return rows;
}

}  // namespace

std::optional<Config> paper_row(const std::string& id, const std::string& group) {
  const auto found = paper_rows().find(id);
  if (found == paper_rows().end() || found->second.group != group) return std::nullopt;
  Config config;                     // every default is the paper's base
  config.training.average_last = 1;  // "without checkpoint averaging"
  for (const auto& [key, value] : found->second.set.items()) set_field(config, key, value);
  return resolve(config);
}

const std::vector<std::string>& constants_of_the_paper() {
  static const std::vector<std::string> keys = {"model.family",
                                                "model.N",
                                                "model.d_model",
                                                "model.d_ff",
                                                "model.h",
                                                "model.d_k",
                                                "model.d_v",
                                                "model.kv_heads",
                                                "model.P_drop",
                                                "model.attention_drop",
                                                "model.activation_drop",
                                                "model.norm_placement",
                                                "model.norm",
                                                "model.positions",
                                                "model.feed_forward",
                                                "model.attention_bias",
                                                "model.tie_embeddings",
                                                "data.tokens_per_batch",
                                                "training.train_steps",
                                                "training.warmup_steps",
                                                "training.schedule",
                                                "training.factor",
                                                "training.eps_ls",
                                                "training.beta1",
                                                "training.beta2",
                                                "training.epsilon",
                                                "training.clip_norm",
                                                "training.average_last",
                                                "decoding.beam",
                                                "decoding.alpha",
                                                "decoding.length_penalty",
                                                "decoding.max_extra_length"};
  return keys;
}

}  // namespace transformer
