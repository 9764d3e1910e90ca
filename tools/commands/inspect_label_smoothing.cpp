#include <cmath>
#include <iostream>

#include "tools/commands/inspect_arguments.h"
#include "tools/commands/inspect_topics.h"
#include "tools/status_line.h"
#include "tools/text_table.h"
#include "transformer/analysis/smoothing_floor.h"
#include "transformer/error.h"
#include "transformer/train/loss.h"

namespace transformer {

namespace {

int64_t stated_V(const SweepRow& row) {
  if (!row.config.model.V.stated()) {
    throw UserError("model.V: expected the number of word-pieces; got null");
  }
  return row.config.model.V;
}

struct Floors {
  double eps_ls;
  int64_t V;
  double floor;   // as this program trains
  double others;  // with the smoothing on every entry but the target
};

Floors floors_of(const SweepRow& row) {
  const int64_t V = stated_V(row);
  const double eps_ls = row.config.training.eps_ls;
  return {eps_ls, V, loss_floor(eps_ls, V), floor_over_others(eps_ls, V)};
}

Json label_smoothing_figures(const Arguments&, const std::vector<SweepRow>& rows) {
  Json list = Json::array();
  for (const auto& row : rows) {
    const auto [eps_ls, V, floor, others] = floors_of(row);
    list.push_back({{"id", row.id},
                    {"eps_ls", eps_ls},
                    {"V", V},
                    {"floor", floor},
                    {"perplexity", std::exp(floor)},
                    {"floor_over_others", others},
                    {"perplexity_over_others", std::exp(others)}});
  }
  return {{"rows", list}};
}

void print_label_smoothing(const Arguments&, const std::vector<SweepRow>& rows) {
  std::vector<std::vector<std::string>> lines = {
      {"row", "eps_ls", "V", "floor", "perplexity", "floor over others", "perplexity"}};
  for (const auto& row : rows) {
    const auto [eps_ls, V, floor, others] = floors_of(row);
    lines.push_back({row.id, formatted("%g", eps_ls), grouped(V), formatted("%.5f", floor),
                     formatted("%.4f", std::exp(floor)), formatted("%.5f", others),
                     formatted("%.4f", std::exp(others))});
  }
  print_cells(std::cout, lines, 1);
  std::cout
      << "\nIn nats a word-piece. floor: eps_ls / V on every entry, the target included, as "
         "this program trains;\nfloor over others: eps_ls / (V - 1) on every entry but the target. "
         "A loss that is a divergence, the entropy\ntaken off, has the floor 0.\n";
}

}  // namespace

const InspectTopic& label_smoothing_topic() {
  static const InspectTopic topic = {
      .line = {.name = "inspect label-smoothing",
               .summary = "The least the smoothed loss can be, by eps_ls and V, under each "
                          "definition of label smoothing.",
               .usage = "CONFIG [key=value...]",
               .example =
                   "transformer inspect label-smoothing configs/base.json training.eps_ls=0.1,0.2",
               .fewest = 1,
               .most = 1,
               .with_overrides = true},
      .figures = label_smoothing_figures,
      .print = print_label_smoothing};
  return topic;
}

}  // namespace transformer
