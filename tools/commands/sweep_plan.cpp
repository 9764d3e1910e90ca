#include "tools/commands/sweep_plan.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <iostream>
#include <map>
#include <tuple>

#include "tools/commands/matrix_rate.h"
#include "tools/commands/step_rate.h"
#include "tools/status_line.h"
#include "tools/text_table.h"
#include "transformer/byte_count.h"
#include "transformer/data/tokenizer.h"
#include "transformer/printable.h"

namespace transformer {
namespace fs = std::filesystem;

namespace {

// A vocabulary that is there already has a size, whether the config states it or not.
std::optional<int64_t> pieces(const std::string& vocabulary) {
  if (vocabulary.empty() || !fs::exists(vocabulary)) return std::nullopt;
  static std::map<std::string, int64_t> known;
  const auto found = known.find(vocabulary);
  return found != known.end() ? found->second : known[vocabulary] = Tokenizer(vocabulary).size();
}

std::string powers_of_ten(double quantity) { return formatted("%.2e", quantity); }

std::string long_duration(double seconds) {
  constexpr double kDay = 86400;
  return seconds < 2 * kDay ? duration(seconds) : formatted("%.1f days", seconds / kDay);
}

std::string sets(const Json& set) {
  std::string text;
  for (const auto& [key, value] : set.items()) {
    text += (text.empty() ? "" : " ") + key.substr(key.find('.') + 1) + "=" +
            (value.is_string() ? value.get<std::string>() : fields::shown(value));
  }
  return text;
}

void explain_unknown(const Sweep& sweep) {
  for (const auto& row : sweep.rows) {
    if (row.config.model.V.stated()) continue;
    const auto& data = row.config.data;
    std::cerr << "transformer: row " << row.id
              << ": parameters not known: model.V is not stated and "
              << (data.vocabulary.empty() ? "data.vocabulary is empty"
                                          : data.vocabulary + " is not there")
              << (data.make.empty() ? "" : "; make it with: " + printable(data.make, 300)) << "\n";
    return;  // one is enough: it is the same for all
  }
}

std::vector<RowPlan> plans_of(const Sweep& sweep, const PlanBasis& basis) {
  explain_unknown(sweep);
  std::vector<RowPlan> rows;
  for (const auto& row : sweep.rows) {
    rows.push_back(plan(row, basis.flops_per_second, basis.program_bytes));
    if (basis.results) add_measured(rows.back(), *basis.results);
  }
  return rows;
}

// A figure as predicted and, in a table that has measured ones, as measured and what the first is
// of the second.
std::vector<std::string> figure_cells(const std::optional<double>& predicted,
                                      const std::optional<double>& measured, bool is_measured,
                                      std::string (*shown)(double)) {
  std::vector<std::string> cells = {predicted ? shown(*predicted) : "?"};
  if (!is_measured) return cells;
  cells.push_back(measured ? shown(*measured) : "");
  const bool has_both = predicted && measured;
  cells.push_back(has_both ? formatted("%.0f %%", 100 * *predicted / *measured) : "");
  return cells;
}

std::vector<std::vector<std::string>> plan_lines(const std::vector<RowPlan>& rows) {
  const bool is_measured = std::ranges::any_of(
      rows, [](const RowPlan& row) { return row.measured_memory_bytes.has_value(); });
  std::vector<std::vector<std::string>> lines = {{"row", "sets", "parameters", "FLOPs"}};
  const auto add = [&](const std::vector<std::string>& cells) {
    lines.back().insert(lines.back().end(), cells.begin(), cells.end());
  };
  for (const char* name : {"memory", "time"}) {
    add({name});
    if (is_measured) add({"measured", "of measured"});
  }
  for (const auto& row : rows) {
    lines.push_back({row.id, sets(row.set), row.parameters ? grouped(*row.parameters) : "?",
                     row.flops ? powers_of_ten(*row.flops) : "?"});
    add(figure_cells(row.memory_bytes, row.measured_memory_bytes, is_measured, byte_count));
    add(figure_cells(row.seconds, row.measured_seconds, is_measured, long_duration));
  }
  return lines;
}

// Of all the rows; empty where one is not known.
std::optional<double> sum_of(const std::vector<RowPlan>& rows,
                             std::optional<double> RowPlan::*figure) {
  double sum = 0;
  for (const auto& row : rows) {
    if (!(row.*figure)) return std::nullopt;
    sum += *(row.*figure);
  }
  return sum;
}

}  // namespace

std::string counted(size_t count, const std::string& what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

Sweep with_vocabulary_size(Sweep sweep) {
  for (auto& row : sweep.rows) {
    auto& model = row.config.model;
    const auto& data = row.config.data;
    if (model.V.stated()) continue;
    const auto V = pieces(data.vocabulary);
    const auto source_V = data.source_vocabulary.empty() ? V : pieces(data.source_vocabulary);
    if (!V || !source_V) continue;
    model.V = *V;
    model.source_V = *source_V;
  }
  return sweep;
}

std::optional<double> measured_rate(const Config& config) {
  static std::map<std::string, std::optional<double>> steps_of;
  // What a step's time depends on.
  const std::string steps_key =
      text_of(to_json(config.model)) + text_of(config.data.tokens_per_batch);
  const auto steps = steps_of.find(steps_key);
  const auto rate =
      steps != steps_of.end() ? steps->second : steps_of[steps_key] = step_rate(config);
  if (rate) return rate;

  constexpr int64_t kMostRows = 2048;  // more would measure the same, for longer
  const std::tuple key{std::min(config.data.tokens_per_batch, kMostRows), config.model.d_model,
                       config.model.d_ff};
  static std::map<decltype(key), double> known;
  const auto found = known.find(key);
  if (found != known.end()) return found->second;
  return known[key] = std::apply(matrix_rate, key) * static_cast<double>(at::get_num_threads());
}

void print_plan(const Sweep& sweep, const PlanBasis& basis) {
  const auto rows = plans_of(sweep, basis);
  print_cells(std::cout, plan_lines(rows), 2);
  const auto seconds = sum_of(rows, &RowPlan::seconds);
  const auto flops = sum_of(rows, &RowPlan::flops);
  const size_t seeds = sweep.seeds.size();
  const auto times = static_cast<double>(seeds);
  std::cout << "\n" << counted(sweep.rows.size(), "row") << ", " << counted(seeds, "seed");
  if (flops) std::cout << ", " << powers_of_ten(*flops * times) << " FLOPs";
  if (seconds) {
    std::cout << ", " << long_duration(*seconds * times / static_cast<double>(basis.jobs))
              << " with " << counted(static_cast<size_t>(basis.jobs), "run") << " at a time";
  }
  std::cout
      << ".\nTime is that of training, on the threads of a run, by steps timed here one run at "
         "a time; by matrix\nproducts alone, which is less, where a step would take long. "
         "Memory is the peak of a run, for\nsentences of 32 word-pieces.\n";
}

void print_plan_json(const Sweep& sweep, const PlanBasis& basis) {
  Json rows = Json::array();
  for (const auto& row : plans_of(sweep, basis)) rows.push_back(to_json(row));
  std::cout << text_of({{"rows", rows}, {"seeds", sweep.seeds}}, 2) << "\n";
}

}  // namespace transformer
