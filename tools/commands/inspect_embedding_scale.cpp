#include <iostream>

#include "tools/commands/inspect_arguments.h"
#include "tools/commands/inspect_commands.h"
#include "tools/commands/inspect_model.h"
#include "tools/text_table.h"
#include "transformer/analysis/embedding_scale.h"

namespace transformer {

int inspect_embedding_scale_command(int argc, char** argv) {
  constexpr int64_t kSentences = 8, kLength = 32;
  cxxopts::Options options("transformer inspect embedding-scale");
  options.add_options()("json", "figures as JSON");
  const auto arguments = parse(
      options,
      {.name = "inspect embedding-scale",
       .summary = "Mean norms of embeddings as initialised, times sqrt(d_model) (section 3.4), of "
                  "the positions added to\nthem, and of the sum: what enters the first layer when "
                  "the model is run on drawn word-pieces.",
       .usage = "CONFIG [key=value...]",
       .example = "transformer inspect embedding-scale configs/base.json",
       .fewest = 1,
       .most = 1,
       .with_overrides = true},
      argc, argv);
  if (!arguments) return 0;
  Json list = Json::array();
  std::vector<std::vector<std::string>> lines = {
      {"row", "d_model", "side", "embedding", "× √d_model", "position", "sum"}};
  for (const auto& row : rows_of(*arguments)) {
    auto model = initialised_model(row.config);
    const auto batch = drawn_batch(row.config, kSentences, kLength);
    const auto scales = embedding_scales(model, batch.source, batch.target_input);
    list.push_back({{"id", row.id},
                    {"d_model", row.config.model.d_model},
                    {"source", to_json(scales.source)},
                    {"target", to_json(scales.target)}});
    for (const auto& [side, scale] :
         {std::pair{"source", &scales.source}, {"target", &scales.target}}) {
      lines.push_back({row.id, std::to_string(row.config.model.d_model), side,
                       formatted("%.4f", scale->embedding), formatted("%.4f", scale->scaled),
                       formatted("%.4f", scale->position), formatted("%.4f", scale->sum)});
    }
  }
  if (arguments->has("json")) {
    print_json({{"rows", list}});
  } else {
    print_cells(std::cout, lines, 1);
  }
  return 0;
}

}  // namespace transformer
