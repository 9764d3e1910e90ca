#include "tools/commands/sweep_plan.h"

#include <algorithm>
#include <iostream>
#include <map>
#include <tuple>

#include "experiments/machine.h"
#include "tools/commands/matrix_rate.h"
#include "tools/status_line.h"
#include "tools/text_table.h"
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

std::string byte_count(double bytes) {
  constexpr double kMi = 1 << 20;
  return bytes < 1024 * kMi ? formatted("%.0f MiB", bytes / kMi)
                            : formatted("%.1f GiB", bytes / (1024 * kMi));
}

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
  constexpr int64_t kMostRows = 2048;  // more would measure the same, for longer
  const std::tuple key{std::min(config.data.tokens_per_batch, kMostRows), config.model.d_model,
                       config.model.d_ff};
  static std::map<decltype(key), double> known;
  const auto found = known.find(key);
  if (found != known.end()) return found->second;
  return known[key] = std::apply(matrix_rate, key) * static_cast<double>(this_machine().cores);
}

void print_plan(const Sweep& sweep, const Rate& rate) {
  explain_unknown(sweep);
  std::vector<std::vector<std::string>> lines = {
      {"row", "sets", "parameters", "FLOPs", "memory", "time"}};
  std::optional<double> seconds = 0, flops = 0;
  for (const auto& sweep_row : sweep.rows) {
    const RowPlan row = plan(sweep_row, rate);
    const auto cell = [](const auto& value, auto&& shown) {
      return value ? shown(*value) : std::string("?");
    };
    lines.push_back({row.id, sets(row.set), cell(row.parameters, grouped),
                     cell(row.flops, powers_of_ten), cell(row.memory_bytes, byte_count),
                     cell(row.seconds, long_duration)});
    seconds = seconds && row.seconds ? std::optional(*seconds + *row.seconds) : std::nullopt;
    flops = flops && row.flops ? std::optional(*flops + *row.flops) : std::nullopt;
  }
  print_cells(std::cout, lines, 2);
  const size_t seeds = sweep.seeds.size();
  const auto times = static_cast<double>(seeds);
  std::cout << "\n" << counted(sweep.rows.size(), "row") << ", " << counted(seeds, "seed");
  if (flops) std::cout << ", " << powers_of_ten(*flops * times) << " FLOPs";
  if (seconds) std::cout << ", at least " << long_duration(*seconds * times);
  std::cout
      << ".\nTime is that of the matrix products alone, all cores busy; memory is estimated for\n"
         "sentences of 32 word-pieces.\n";
}

void print_plan_json(const Sweep& sweep, const Rate& rate) {
  explain_unknown(sweep);
  Json rows = Json::array();
  for (const auto& row : sweep.rows) rows.push_back(to_json(plan(row, rate)));
  std::cout << text_of({{"rows", rows}, {"seeds", sweep.seeds}}, 2) << "\n";
}

}  // namespace transformer
