#include "experiments/comparison_report.h"

namespace transformer {

namespace {

Json compared_figure(const std::optional<Figure>& figure) {
  if (!figure) return {};
  return {{"mean", figure->mean},
          {"sample_standard_deviation", fields::write(figure->standard_deviation)},
          {"n", figure->n}};
}

Json values_of_keys(const RowSummary& row, const std::vector<std::string>& keys) {
  Json values = Json::object();
  for (const auto& key : keys) values[key] = row.values.contains(key) ? row.values[key] : Json();
  return values;
}

Json points_json(const std::vector<CurvePoint>& points) {
  Json json = Json::array();
  for (const auto& point : points) {
    json.push_back({{"step", point.step}, {"perplexity", point.perplexity}});
  }
  return json;
}

Json compared_run(const ComparedRun& run) {
  Json json = {{"seed", run.run->seed},
               {"state", name_of(run.run->state)},
               {"diverged", run.diverged},
               {"diverged_at", fields::write(run.run->diverged_at)}};
  json["perplexity"] = run.run->result ? Json(run.run->result->perplexity) : Json();
  json["bleu"] = run.run->result ? fields::write(run.run->result->bleu) : Json();
  json["reached"] = fields::write(run.reached);
  json["training"] = points_json(run.details.curve.training);
  json["validation"] = points_json(run.details.curve.validation);
  return json;
}

Json compared_row_json(const ComparedRow& row, const Comparison& comparison) {
  Json runs = Json::array();
  for (const auto& run : row.runs) runs.push_back(compared_run(run));
  Json tests = Json::array();
  for (const auto& test : row.tests) {
    tests.push_back({{"seed", test.seed},
                     {"difference", test.difference},
                     {"p_bootstrap", fields::write(test.bootstrap)},
                     {"p_randomisation", fields::write(test.randomisation)}});
  }
  return {{"id", row.row->row.id},
          {"values", values_of_keys(*row.row, comparison.keys)},
          {"done", row.done},
          {"diverged", row.diverged},
          {"perplexity", compared_figure(row.perplexity)},
          {"bleu", compared_figure(row.bleu)},
          {"perplexity_difference", compared_figure(row.perplexity_difference)},
          {"bleu_difference", compared_figure(row.bleu_difference)},
          {"bleu_tests", tests},
          {"reaching", row.reaching},
          {"steps_to", compared_figure(row.steps_to)},
          {"runs", runs}};
}

}  // namespace

Json to_json(const Comparison& comparison, const ComparisonOptions& options) {
  Json settings = Json::array();
  for (const auto& setting : comparison.settings) {
    Json rows = Json::array();
    for (const auto& row : setting.rows) rows.push_back(compared_row_json(row, comparison));
    settings.push_back(
        {{"settings", values_of_keys(*setting.rows.front().row, comparison.setting_keys)},
         {"baseline",
          setting.baseline ? Json(setting.rows[*setting.baseline].row->row.id) : Json()},
         {"rows", rows}});
  }
  Json overall = Json::array();
  for (const auto& value : comparison.overall) {
    overall.push_back({{"values", values_of_keys(*value.row, comparison.keys)},
                       {"done", value.done},
                       {"diverged", value.diverged},
                       {"perplexity_difference", compared_figure(value.perplexity_difference)},
                       {"bleu_difference", compared_figure(value.bleu_difference)}});
  }
  return {{"schema_version", kSchemaVersion},
          {"by", comparison.keys},
          {"baseline", comparison.baseline},
          {"reach", fields::write(options.reach)},
          {"diverged_above", fields::write(options.diverged_above)},
          {"tests",
           {{"bootstrap_samples", options.tests.bootstrap_samples},
            {"randomisation_trials", options.tests.randomisation_trials},
            {"seed", options.tests.seed}}},
          {"settings", settings},
          {"overall", overall},
          {"unmatched", comparison.unmatched}};
}

}  // namespace transformer
