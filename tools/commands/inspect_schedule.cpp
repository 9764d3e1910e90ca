#include <algorithm>
#include <iostream>
#include <set>

#include "tools/commands/inspect_arguments.h"
#include "tools/commands/inspect_topics.h"
#include "tools/status_line.h"
#include "tools/text_table.h"
#include "transformer/train/schedule.h"

namespace transformer {

namespace {

double rate_at(const Config& config, int64_t step) {
  return learning_rate(config.training, config.model.d_model, step);
}

// Every schedule rises to the end of its warm-up and falls, or stays, after it.
int64_t peak_step(const Config& config) {
  const int64_t last = config.training.train_steps;
  const int64_t warm = config.training.warmup_steps;
  int64_t peak = 1;
  for (const int64_t step : {warm - 1, warm, warm + 1, last}) {
    if (step < 1 || step > last) continue;
    if (rate_at(config, step) > rate_at(config, peak)) peak = step;
  }
  return peak;
}

std::vector<int64_t> usual_steps(const std::vector<SweepRow>& rows) {
  int64_t last = 1;
  std::set<int64_t> steps;
  for (const auto& row : rows) {
    const auto& training = row.config.training;
    last = std::max(last, training.train_steps);
    if (training.warmup_steps > 0) steps.insert(training.warmup_steps);
  }
  for (int64_t step = 1; step < last; step *= 10) steps.insert(step);
  steps.insert(last);
  return {steps.begin(), steps.end()};
}

void add_schedule_options(cxxopts::Options& options) {
  options.add_options()("steps", "steps to show, from 1, such as 1,4000,100000",
                        cxxopts::value<std::string>());
}

std::vector<int64_t> steps_of(const Arguments& arguments, const std::vector<SweepRow>& rows) {
  constexpr int64_t kMostSteps = 1'000'000'000;
  return arguments.has("steps") ? integers_of(arguments, "steps", 1, kMostSteps)
                                : usual_steps(rows);
}

Json schedule_figures(const Arguments& arguments, const std::vector<SweepRow>& rows) {
  const auto steps = steps_of(arguments, rows);
  Json list = Json::array();
  for (const auto& row : rows) {
    const int64_t peak = peak_step(row.config);
    Json rates = Json::array();
    for (const int64_t step : steps) {
      rates.push_back({{"step", step}, {"rate", rate_at(row.config, step)}});
    }
    list.push_back({{"id", row.id},
                    {"schedule", name_of(row.config.training.schedule)},
                    {"peak", {{"step", peak}, {"rate", rate_at(row.config, peak)}}},
                    {"rates", rates}});
  }
  return {{"rows", list}};
}

void print_schedule(const Arguments& arguments, const std::vector<SweepRow>& rows) {
  const auto steps = steps_of(arguments, rows);
  std::vector<std::vector<std::string>> lines = {{"row", "schedule", "peak", "at step"}};
  for (const int64_t step : steps) lines[0].push_back("step " + grouped(step));
  for (const auto& row : rows) {
    const int64_t peak = peak_step(row.config);
    lines.push_back({row.id, name_of(row.config.training.schedule),
                     formatted("%.3e", rate_at(row.config, peak)), grouped(peak)});
    for (const int64_t step : steps) {
      lines.back().push_back(formatted("%.3e", rate_at(row.config, step)));
    }
  }
  print_cells(std::cout, lines, 2);
}

}  // namespace

const InspectTopic& schedule_topic() {
  static const InspectTopic topic = {
      .line = {.name = "inspect schedule",
               .summary = "The learning rate at chosen steps and its peak (equation 3), a line for "
                          "each row of a sweep or\nvalue of a list.",
               .usage = "CONFIG [key=value...]",
               .example = "transformer inspect schedule configs/base.json "
                          "training.schedule=noam,cosine --steps 1000,4000,100000",
               .fewest = 1,
               .most = 1,
               .with_overrides = true},
      .add_options = add_schedule_options,
      .figures = schedule_figures,
      .print = print_schedule};
  return topic;
}

}  // namespace transformer
