#include <iostream>

#include "tools/commands/inspect_arguments.h"
#include "tools/commands/inspect_model.h"
#include "tools/commands/inspect_topics.h"
#include "tools/text_table.h"
#include "transformer/analysis/embedding_scale.h"

namespace transformer {

namespace {

EmbeddingScales scales_of(const Config& config) {
  constexpr int64_t kSentences = 8, kLength = 32;
  auto model = initialised_model(config);
  const auto batch = drawn_batch(config, kSentences, kLength);
  return embedding_scales(model, batch.source, batch.target_input);
}

Json embedding_scale_figures(const Arguments&, const std::vector<SweepRow>& rows) {
  Json list = Json::array();
  for (const auto& row : rows) {
    const auto scales = scales_of(row.config);
    Json json = {{"id", row.id}, {"d_model", row.config.model.d_model}};
    if (scales.source) json["source"] = to_json(*scales.source);
    json["target"] = to_json(scales.target);
    list.push_back(json);
  }
  return {{"rows", list}};
}

void print_embedding_scale(const Arguments&, const std::vector<SweepRow>& rows) {
  std::vector<std::vector<std::string>> lines = {
      {"row", "d_model", "side", "embedding", "× √d_model", "position", "sum"}};
  for (const auto& row : rows) {
    const auto scales = scales_of(row.config);
    for (const auto& [side, scale] :
         {std::pair{"source", scales.source ? &*scales.source : nullptr},
          {"target", &scales.target}}) {
      if (scale == nullptr) continue;
      lines.push_back({row.id, std::to_string(row.config.model.d_model), side,
                       formatted("%.4f", scale->embedding), formatted("%.4f", scale->scaled),
                       formatted("%.4f", scale->position), formatted("%.4f", scale->sum)});
    }
  }
  print_cells(std::cout, lines, 1);
}

}  // namespace

const InspectTopic& embedding_scale_topic() {
  static const InspectTopic topic = {
      .line = {.name = "inspect embedding-scale",
               .summary = "Mean norms of embeddings as initialised, times sqrt(d_model) (section "
                          "3.4), of the positions added to\nthem, and of the sum: what enters the "
                          "first layer when the model is run on drawn word-pieces.",
               .usage = "CONFIG [key=value...]",
               .example = "transformer inspect embedding-scale configs/base.json",
               .fewest = 1,
               .most = 1,
               .with_overrides = true},
      .figures = embedding_scale_figures,
      .print = print_embedding_scale};
  return topic;
}

}  // namespace transformer
