#include <torch/torch.h>

#include <algorithm>
#include <iostream>

#include "tools/commands/inspect_arguments.h"
#include "tools/commands/inspect_model.h"
#include "tools/commands/inspect_topics.h"
#include "tools/status_line.h"
#include "tools/text_table.h"
#include "transformer/analysis/position_products.h"
#include "transformer/error.h"

namespace transformer {

namespace {

// What the model adds to the embeddings of the side that it reads first: [length, d_model].
torch::Tensor table_of(const Config& config, int64_t length) {
  const torch::NoGradGuard no_gradient;
  std::optional<torch::Tensor> table;
  if (config.model.positions == PositionKind::learned) {
    auto model = initialised_model(config);
    const char* side = reads_source(config.model.family) ? "source_positions" : "target_positions";
    table = model->named_modules()[side]->as<PositionsImpl>()->table(length, torch::kFloat);
  } else {
    table = Positions(config.model)->table(length, torch::kFloat);
  }
  if (!table) {
    throw UserError("model.positions: " + name_of(config.model.positions) +
                    " has no matrix to show");
  }
  return table->narrow(0, 0, length).to(torch::kDouble).contiguous();
}

std::vector<int64_t> shown_columns(int64_t d_model) {
  std::vector<int64_t> columns;
  for (int64_t i = 0; i < std::min<int64_t>(6, d_model); ++i) columns.push_back(i);
  for (int64_t i = std::max<int64_t>(6, d_model - 2); i < d_model; ++i) columns.push_back(i);
  return columns;
}

void print_matrix(const torch::Tensor& table, int64_t rows) {
  const auto columns = shown_columns(table.size(1));
  const auto norms = table.norm(2, 1);
  std::vector<std::vector<std::string>> lines = {{"pos"}};
  for (const int64_t column : columns) lines[0].push_back("[" + std::to_string(column) + "]");
  lines[0].push_back("norm");
  for (int64_t pos = 0; pos < rows; ++pos) {
    lines.push_back({std::to_string(pos)});
    for (const int64_t column : columns) {
      lines.back().push_back(formatted("%.4f", table[pos][column].item<double>()));
    }
    lines.back().push_back(formatted("%.4f", norms[pos].item<double>()));
  }
  print_cells(std::cout, lines, 0);
}

void print_products(const std::vector<PositionProducts>& products) {
  std::cout << "\nPE(pos) · PE(pos + distance), over all pos\n";
  std::vector<std::vector<std::string>> lines = {{"distance", "least", "mean", "most"}};
  for (size_t distance = 0; distance < products.size();
       distance = distance < 4 ? distance + 1 : distance * 2) {
    const auto& each = products[distance];
    lines.push_back({std::to_string(distance), formatted("%.3f", each.least),
                     formatted("%.3f", each.mean), formatted("%.3f", each.most)});
  }
  print_cells(std::cout, lines, 0);
}

void add_positions_options(cxxopts::Options& options) {
  options.add_options()("length", "positions to compute",
                        cxxopts::value<std::string>()->default_value("128"))(
      "rows", "of them to print", cxxopts::value<std::string>()->default_value("8"));
}

torch::Tensor table_of(const Arguments& arguments, const std::vector<SweepRow>& rows) {
  return table_of(one_config(arguments, rows), arguments.integer("length", 1, 16384));
}

Json positions_figures(const Arguments& arguments, const std::vector<SweepRow>& rows) {
  const auto table = table_of(arguments, rows);
  const auto norms = table.norm(2, 1);
  Json matrix = Json::array(), by_distance = Json::array();
  for (int64_t pos = 0; pos < table.size(0); ++pos) {
    const auto* row = table.const_data_ptr<double>() + pos * table.size(1);
    matrix.push_back(std::vector<double>(row, row + table.size(1)));
  }
  for (const auto& products : position_products(table)) by_distance.push_back(to_json(products));
  const auto* norm = norms.const_data_ptr<double>();
  return {{"matrix", matrix},
          {"norms", std::vector<double>(norm, norm + table.size(0))},
          {"products", by_distance}};
}

void print_positions(const Arguments& arguments, const std::vector<SweepRow>& rows) {
  const int64_t shown = arguments.integer("rows", 1);
  const auto table = table_of(arguments, rows);
  print_matrix(table, std::min(table.size(0), shown));
  print_products(position_products(table));
}

}  // namespace

const InspectTopic& positions_topic() {
  static const InspectTopic topic = {
      .line = {.name = "inspect positions",
               .summary =
                   "The matrix that the model adds to its embeddings (section 3.5), the norm "
                   "of each row, sqrt(d_model / 2)\nfor sinusoids, and dot products by "
                   "distance. --json gives the whole matrix.",
               .usage = "CONFIG [key=value...]",
               .example = "transformer inspect positions configs/base.json --length 512",
               .fewest = 1,
               .most = 1,
               .with_overrides = true},
      .add_options = add_positions_options,
      .figures = positions_figures,
      .print = print_positions};
  return topic;
}

}  // namespace transformer
