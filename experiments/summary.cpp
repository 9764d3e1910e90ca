#include "experiments/summary.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "experiments/statistics.h"

namespace transformer {

namespace {

// {"model": {"h": 8}} as {"model.h": 8}.
void flatten(const Json& json, const std::string& path, Json& out) {
  for (const auto& [key, value] : json.items()) {
    const std::string dotted = fields::join(path, key);
    if (value.is_object()) {
      flatten(value, dotted, out);
    } else {
      out[dotted] = value;
    }
  }
}

Json values_of(const RowSummary& summary) {
  Json values = Json::object();
  if (!summary.row.config.is_null()) {
    flatten(summary.row.config, "", values);
    return values;
  }
  for (const auto& run : summary.runs) {
    if (!run.result) continue;
    flatten(run.result->config, "", values);
    return values;
  }
  return summary.row.set;
}

void add_once(std::vector<std::string>& all, const std::string& one) {
  if (std::find(all.begin(), all.end(), one) == all.end()) all.push_back(one);
}

std::string describe(const Machine& machine) {
  const int64_t gib = ((machine.memory_bytes >> 29) + 1) >> 1;  // rounded; without overflow
  return machine.cpu + ", " + std::to_string(machine.cores) + " cores, " + machine.vector_width +
         ", " + std::to_string(gib) + " GiB, " + machine.system;
}

std::optional<RankCorrelation> correlation(const std::vector<RowSummary>& rows,
                                           std::optional<Figure> RowSummary::*ours,
                                           std::optional<double> PaperFigures::*papers) {
  std::vector<double> x, y;
  for (const auto& row : rows) {
    if (!(row.*ours) || !(row.row.paper.*papers)) continue;
    x.push_back((row.*ours)->mean);
    y.push_back(*(row.row.paper.*papers));
  }
  constexpr size_t kFewest = 4;
  if (x.size() < kFewest) return std::nullopt;
  const auto rho = spearman(x, y);
  if (!rho) return std::nullopt;
  return RankCorrelation{*rho, static_cast<int64_t>(x.size())};
}

// Over the runs that have one.
std::optional<Figure> figure_of(const RowSummary& row, auto Result::*quantity) {
  std::vector<double> values;
  for (const auto& run : row.runs) {
    if (!run.result) continue;
    const std::optional value = (*run.result).*quantity;
    if (value) values.push_back(static_cast<double>(*value));
  }
  if (values.empty()) return std::nullopt;
  return figure(values);
}

RowSummary summarize(const RowRecord& row, std::vector<RunRecord> runs) {
  RowSummary summary;
  summary.row = row;
  summary.runs = std::move(runs);
  for (const auto& run : summary.runs) {
    if (run.state == RunState::diverged) ++summary.diverged;
    if (run.result) ++summary.complete;
  }
  summary.values = values_of(summary);
  summary.perplexity = figure_of(summary, &Result::perplexity);
  summary.bleu = figure_of(summary, &Result::bleu);
  summary.parameters = figure_of(summary, &Result::parameters);
  summary.seconds = figure_of(summary, &Result::seconds);
  summary.tokens_per_second = figure_of(summary, &Result::tokens_per_second);
  summary.flops = figure_of(summary, &Result::flops);
  summary.peak_memory_bytes = figure_of(summary, &Result::peak_memory_bytes);
  return summary;
}

}  // namespace

Figure figure(const std::vector<double>& values) {
  Figure figure{static_cast<int64_t>(values.size()), mean(values), std::nullopt};
  if (values.size() > 1) figure.standard_deviation = sample_standard_deviation(values);
  return figure;
}

Summary summarize(const Results& results) {
  Summary summary;
  std::unordered_map<std::string, std::vector<RunRecord>> runs;
  for (const auto& run : results.results) runs[run.id].push_back(run);
  for (const auto& row : results.rows) summary.rows.push_back(summarize(row, runs[row.id]));
  for (const auto& row : summary.rows) {
    summary.runs += static_cast<int64_t>(row.runs.size());
    summary.complete += row.complete;
    summary.diverged += row.diverged;
    for (const auto& run : row.runs) {
      if (!run.result) continue;
      if (run.result->bleu) add_once(summary.bleu_signatures, run.result->bleu_signature);
      add_once(summary.machines, describe(run.result->machine));
      add_once(summary.versions,
               run.result->version +
                   (run.result->commit.empty() ? "" : " (" + run.result->commit + ")"));
    }
  }
  summary.perplexity =
      correlation(summary.rows, &RowSummary::perplexity, &PaperFigures::perplexity);
  summary.bleu = correlation(summary.rows, &RowSummary::bleu, &PaperFigures::bleu);
  return summary;
}

RunState state_of(const RowSummary& row) {
  for (const RunState state : {RunState::failed, RunState::running, RunState::interrupted,
                               RunState::missing, RunState::diverged}) {
    for (const auto& run : row.runs) {
      if (run.state == state) return state;
    }
  }
  return row.runs.empty() ? RunState::missing : RunState::complete;
}

}  // namespace transformer
