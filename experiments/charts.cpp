#include "experiments/charts.h"

#include <algorithm>
#include <map>

#include "experiments/metrics.h"
#include "experiments/statistics.h"

namespace transformer {
namespace fs = std::filesystem;

namespace {

Json numbers_on(const std::string& field, const std::string& title, bool logarithmic = false) {
  Json scale = {{"type", logarithmic ? "log" : "linear"}, {"nice", false}, {"padding", 12}};
  if (!logarithmic) scale["zero"] = false;
  Json axis = {{"field", field}, {"type", "quantitative"}, {"title", title}, {"scale", scale}};
  if (logarithmic) axis["axis"] = {{"format", "~s"}};  // 65M
  return axis;
}

const Json kByGroup = {{"field", "group"}, {"type", "nominal"}, {"title", "group"}};

Json specification(const std::string& description, const Json& values) {
  return {{"$schema", "https://vega.github.io/schema/vega-lite/v6.json"},
          {"description", description},
          {"width", "container"},
          {"height", 320},
          {"autosize", {{"type", "fit"}, {"contains", "padding"}}},
          {"data", {{"values", values}}}};
}

void add_curve(std::vector<Chart>& charts, const Summary& summary, const CurveOf& curve_of,
               const std::string& key, const std::string& id, const std::string& title,
               bool logarithmic) {
  Json values = Json::array();
  for (const auto& row : summary.rows) {
    for (const auto& run : row.runs) {
      for (const auto& [step, value] : curve_of(row.row.id, run.seed, key)) {
        values.push_back({{"row", row.row.id}, {"seed", run.seed}, {"step", step}, {key, value}});
      }
    }
  }
  if (values.empty()) return;
  Json spec = specification(title + " by training step, a line a run", values);
  // A click on the legend picks rows, with the shift key several.
  spec["params"] = Json::array({{{"name", "picked"},
                                 {"select", {{"type", "point"}, {"fields", {"row"}}}},
                                 {"bind", "legend"}}});
  spec["mark"] = {{"type", "line"}, {"tooltip", true}, {"interpolate", "monotone"}};
  spec["encoding"] = {
      {"x", numbers_on("step", "training step")},
      {"y", numbers_on(key, title, logarithmic)},
      {"color",
       {{"field", "row"},
        {"type", "nominal"},
        {"sort", nullptr},
        {"scale", {{"scheme", "tableau20"}}}}},
      {"detail", {{"field", "seed"}}},
      {"opacity", {{"condition", {{"param", "picked"}, {"value", 1}}}, {"value", 0.08}}}};
  charts.push_back(
      {id, title, "A click on a row's name shows it alone, with Shift several.", spec});
}

// A record a complete row: id, group, and what the figures are; without BLEU where it does not
// translate.
Json records(const Summary& summary) {
  Json values = Json::array();
  for (const auto& row : summary.rows) {
    if (!row.perplexity || !row.parameters) continue;
    double flops = 0, rate = 0, seconds = 0;
    for (const auto& run : row.runs) {
      if (!run.result) continue;
      const auto n = static_cast<double>(row.complete);
      flops += run.result->flops / n;
      rate += run.result->tokens_per_second / n;
      seconds += run.result->seconds / n;
    }
    values.push_back({{"row", row.row.id},
                      {"group", row.row.group.empty() ? "rows" : row.row.group},
                      {"perplexity", row.perplexity->mean},
                      {"bleu", row.bleu ? Json(row.bleu->mean) : Json()},
                      {"parameters", row.parameters->mean},
                      {"flops", flops},
                      {"tokens_per_second", rate},
                      {"minutes", seconds / 60}});
  }
  return values;
}

// Points with the rows' names beside them.
Json labelled_points(const std::string& description, const Json& values, const Json& x,
                     const Json& y) {
  Json spec = specification(description, values);
  spec["encoding"] = {{"x", x}, {"y", y}};
  spec["layer"] = Json::array(
      {{{"mark",
         {{"type", "point"}, {"filled", true}, {"size", 60}, {"tooltip", {{"content", "data"}}}}},
        {"encoding", {{"color", kByGroup}}}},
       {{"mark", {{"type", "text"}, {"align", "left"}, {"dx", 7}, {"fontSize", 10}}},
        {"encoding", {{"text", {{"field", "row"}}}, {"color", kByGroup}}}}});
  return spec;
}

// A quantity of every sublayer in the order of the computation, at the last step that was looked
// at.
Json layer_values(const Summary& summary, const fs::path& folder, const std::string& key) {
  Json values = Json::array();
  for (const auto& row : summary.rows) {
    for (const auto& run : row.runs) {
      const auto file = run_folder_in(folder, row.row.id, run.seed) / "diagnostics.jsonl";
      const auto lines = read_metrics(file).lines;
      if (lines.empty()) continue;
      int64_t depth = 0;
      for (const auto& sublayer : lines.back().at("sublayers")) {
        const Json& found = sublayer.at(key);
        ++depth;
        const Json value = found.is_object() ? found.value("out.weight", Json()) : found;
        if (value.is_null()) continue;
        values.push_back({{"row", row.row.id},
                          {"seed", run.seed},
                          {"step", lines.back().at("step")},
                          {"depth", depth},
                          {"sublayer", sublayer.at("sublayer")},
                          {key, value}});
      }
    }
  }
  return values;
}

void add_layers(std::vector<Chart>& charts, const Summary& summary, const fs::path& folder,
                const std::string& key, const std::string& title, const std::string& text) {
  const Json values = layer_values(summary, folder, key);
  if (values.empty()) return;
  Json spec = specification(title + ", a line a run", values);
  spec["mark"] = {{"type", "line"}, {"point", true}, {"tooltip", {{"content", "data"}}}};
  spec["encoding"] = {{"x", numbers_on("depth", "sublayer, encoder first")},
                      {"y", numbers_on(key, title, true)},
                      {"color", {{"field", "row"}, {"type", "nominal"}, {"sort", nullptr}}},
                      {"detail", {{"field", "seed"}}}};
  charts.push_back({"layers-" + key, title, text, spec});
}

Json rank_values(const Summary& summary) {
  std::vector<double> ours, papers;
  std::vector<const RowSummary*> rows;
  for (const auto& row : summary.rows) {
    if (!row.perplexity || !row.row.paper.perplexity) continue;
    rows.push_back(&row);
    ours.push_back(row.perplexity->mean);
    papers.push_back(*row.row.paper.perplexity);
  }
  const auto our_ranks = average_ranks(ours), paper_ranks = average_ranks(papers);
  Json values = Json::array();
  for (size_t i = 0; i < rows.size(); ++i) {
    values.push_back({{"row", rows[i]->row.id},
                      {"group", rows[i]->row.group},
                      {"ours", our_ranks[i]},
                      {"paper", paper_ranks[i]}});
  }
  return values;
}

void add_ranks(std::vector<Chart>& charts, const Summary& summary) {
  const Json values = rank_values(summary);
  if (values.size() < 4) return;
  Json spec = labelled_points("Rank by perplexity, ours against the paper's", values,
                              numbers_on("paper", "rank in the paper (1: least perplexity)"),
                              numbers_on("ours", "rank here"));
  spec["layer"].push_back(
      {{"data", {{"values", Json::array({{{"a", 1}}, {{"a", values.size()}}})}}},
       {"mark", {{"type", "line"}, {"strokeDash", {4, 4}}, {"color", "gray"}}},
       {"encoding",
        {{"x", {{"field", "a"}, {"type", "quantitative"}}},
         {"y", {{"field", "a"}, {"type", "quantitative"}}}}}});
  std::string text = "On the dashed line a row stands where the paper has it.";
  if (summary.perplexity) {
    char figure[48];
    std::snprintf(figure, sizeof figure, " Spearman's rank correlation: %.2f.",
                  summary.perplexity->spearman);
    text += figure;
  }
  charts.push_back({"ranks", "Our ranks against the paper's", text, spec});
}

void add_speed(std::vector<Chart>& charts, const Json& values) {
  Json spec = specification("Target tokens a second of each row's training", values);
  spec["height"] = 50 + 16 * values.size();  // the axis, and a bar each
  spec["mark"] = {{"type", "bar"}, {"tooltip", {{"content", "data"}}}};
  spec["encoding"] = {
      {"y", {{"field", "row"}, {"type", "nominal"}, {"sort", nullptr}, {"title", ""}}},
      {"x", numbers_on("tokens_per_second", "target tokens a second")},
      {"color", kByGroup}};
  spec["encoding"]["x"]["scale"] = {{"zero", true}};
  charts.push_back({"speed", "Speed", "Means over a row's runs, as the machine was then.", spec});
}

}  // namespace

std::vector<Chart> charts_of(const Summary& summary, const fs::path& folder) {
  return charts_of(summary, folder, [&](const auto& row, int64_t seed, const auto& key) {
    return learning_curve(run_folder_in(folder, row, seed) / "metrics.jsonl", key);
  });
}

std::vector<Chart> charts_of(const Summary& summary, const fs::path& folder,
                             const CurveOf& curve_of) {
  std::vector<Chart> charts;
  add_curve(charts, summary, curve_of, "valid_perplexity", "validation", "Validation perplexity",
            true);
  add_curve(charts, summary, curve_of, "nll", "training", "Training loss without label smoothing",
            false);
  add_layers(charts, summary, folder, "trunk", "Residual stream's norm by sublayer",
             "At the last diagnosis of each run (training.diagnostics_every).");
  add_layers(charts, summary, folder, "gradient", "Gradient norm of feed-forward out.weight",
             "At the last diagnosis of each run, before clipping.");
  const Json values = records(summary);
  if (!values.empty()) {
    const auto perplexity = numbers_on("perplexity", "perplexity (dev)", true);
    Json translating = values;
    std::erase_if(translating.get_ref<Json::array_t&>(),
                  [](const Json& row) { return row["bleu"].is_null(); });
    if (!translating.empty()) {
      charts.push_back({"quality", "Perplexity against BLEU", "A point a row, means over its runs.",
                        labelled_points("BLEU against perplexity, a point a row", translating,
                                        perplexity, numbers_on("bleu", "BLEU (dev)"))});
    }
    charts.push_back({"size", "Size against quality", "Trained scalars, a tied matrix once.",
                      labelled_points("Perplexity against parameters, a point a row", values,
                                      numbers_on("parameters", "parameters", true), perplexity)});
    charts.push_back({"cost", "Cost against quality", "Operations of the whole training.",
                      labelled_points("Perplexity against training FLOPs, a point a row", values,
                                      numbers_on("flops", "training FLOPs", true), perplexity)});
  }
  add_ranks(charts, summary);
  if (!values.empty()) add_speed(charts, values);
  return charts;
}

}  // namespace transformer
