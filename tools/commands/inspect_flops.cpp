#include <iostream>

#include "experiments/plan.h"
#include "tools/commands/inspect_arguments.h"
#include "tools/commands/inspect_topics.h"
#include "tools/status_line.h"
#include "tools/text_table.h"
#include "transformer/analysis/training_cost.h"
#include "transformer/error.h"

namespace transformer {

namespace {

struct Device {
  double count;
  double flops_per_second;
  double utilisation;
};

Device device_of_options(const Arguments& arguments) {
  const Device device{arguments.positive_number("devices"),
                      arguments.positive_number("tflops") * 1e12,
                      arguments.positive_number("utilisation")};
  if (device.utilisation > 1) {
    throw UserError("--utilisation: expected a number above 0 and at most 1; got " +
                    arguments.get<std::string>("utilisation"));
  }
  return device;
}

std::string long_time(double seconds) {
  constexpr double kDay = 86400;
  return seconds < 2 * kDay ? duration(seconds) : formatted("%.1f days", seconds / kDay);
}

std::string cost(const std::optional<double>& flops) {
  return flops ? formatted("%.1e", *flops) : "";
}

double paper_cost(const PaperTraining& training) {
  return cost_by_time(training.hours * 3600, kPaperTrainingDevices, kPaperTrainingRate);
}

struct RowCost {
  std::string id;
  double a_step;
  double whole;
  double seconds;
};

RowCost cost_of(const SweepRow& row, const Device& device) {
  if (!row.config.model.V.stated()) {
    throw UserError("model.V: expected the number of word-pieces; got null");
  }
  const double whole = total_flops(row.config);
  return {row.id, whole / static_cast<double>(row.config.training.train_steps), whole,
          training_seconds(whole, device.count, device.flops_per_second, device.utilisation)};
}

void print_paper() {
  std::cout << "\nThe paper's method: time × devices × sustained rate\n";
  for (const auto& training : kPaperTrainings) {
    std::cout << "  " << training.model << ": " << formatted("%g h", training.hours) << " × "
              << formatted("%g", kPaperTrainingDevices) << " P100 × "
              << formatted("%g TFLOP/s", kPaperTrainingRate / 1e12) << " = "
              << formatted("%.2e", paper_cost(training)) << "\n";
  }
  std::cout << "\nTable 2\n";
  std::vector<std::vector<std::string>> lines = {{"model", "EN-DE", "EN-FR"}};
  for (const auto& row : kPaperCosts) {
    lines.push_back({row.model, cost(row.german), cost(row.french)});
  }
  print_cells(std::cout, lines, 1);
}

Json paper_json() {
  Json table = Json::array();
  for (const auto& row : kPaperCosts) {
    table.push_back({{"model", row.model},
                     {"german", fields::write(row.german)},
                     {"french", fields::write(row.french)}});
  }
  Json trainings = Json::array();
  for (const auto& training : kPaperTrainings) {
    trainings.push_back({{"model", training.model},
                         {"hours", training.hours},
                         {"devices", kPaperTrainingDevices},
                         {"flops_per_second", kPaperTrainingRate},
                         {"flops", paper_cost(training)}});
  }
  return {{"by_time", trainings}, {"table2", table}};
}

void add_flops_options(cxxopts::Options& options) {
  options.add_options()("devices", "how many", cxxopts::value<std::string>()->default_value("8"))(
      "tflops", "of one device, TFLOP/s; the paper takes 9.5 for a P100",
      cxxopts::value<std::string>()->default_value("9.5"))(
      "utilisation", "the part of it that is used",
      cxxopts::value<std::string>()->default_value("1"))(
      "hours", "cost of so long a training by the paper's method", cxxopts::value<std::string>());
}

// Of so many hours on the device by the paper's method, where they are given.
std::optional<double> given_cost_by_time(const Arguments& arguments, const Device& device) {
  if (!arguments.has("hours")) return std::nullopt;
  return cost_by_time(arguments.positive_number("hours") * 3600, device.count,
                      device.flops_per_second);
}

Json flops_figures(const Arguments& arguments, const std::vector<SweepRow>& rows) {
  const Device device = device_of_options(arguments);
  Json list = Json::array();
  for (const auto& row : rows) {
    const RowCost cost = cost_of(row, device);
    list.push_back({{"id", cost.id},
                    {"flops_a_step", cost.a_step},
                    {"flops", cost.whole},
                    {"seconds", cost.seconds}});
  }
  return {{"rows", list},
          {"by_time", fields::write(given_cost_by_time(arguments, device))},
          {"paper", paper_json()}};
}

void print_flops(const Arguments& arguments, const std::vector<SweepRow>& rows) {
  const Device device = device_of_options(arguments);
  const auto by_time = given_cost_by_time(arguments, device);
  std::vector<std::vector<std::string>> lines = {{"row", "FLOPs a step", "FLOPs", "time"}};
  for (const auto& row : rows) {
    const RowCost cost = cost_of(row, device);
    lines.push_back({cost.id, formatted("%.3e", cost.a_step), formatted("%.3e", cost.whole),
                     long_time(cost.seconds)});
  }
  print_cells(std::cout, lines, 1);
  std::cout << "\nTime on " << formatted("%g", device.count) << " × "
            << formatted("%g", device.flops_per_second / 1e12) << " TFLOP/s at "
            << formatted("%g", 100 * device.utilisation) << " %.\n";
  if (by_time) {
    std::cout << arguments.get<std::string>("hours")
              << " h on them by the paper's method: " << formatted("%.2e", *by_time) << " FLOPs.\n";
  }
  print_paper();
}

}  // namespace

const InspectTopic& flops_topic() {
  static const InspectTopic topic = {
      .line = {.name = "inspect flops",
               .summary = "What training costs: matrix products counted, forward and backward, "
                          "with batches of data.tokens_per_batch\non each side in sentences of 32 "
                          "word-pieces; the time that takes; and the paper's figures (Table 2).",
               .usage = "CONFIG [key=value...]",
               .example = "transformer inspect flops configs/base.json --devices 1 --tflops 100 "
                          "--utilisation 0.4",
               .fewest = 1,
               .most = 1,
               .with_overrides = true},
      .add_options = add_flops_options,
      .figures = flops_figures,
      .print = print_flops};
  return topic;
}

}  // namespace transformer
