#include <algorithm>
#include <iostream>

#include "tools/commands/inspect_arguments.h"
#include "tools/commands/inspect_topics.h"
#include "tools/status_line.h"
#include "tools/text_table.h"
#include "transformer/analysis/parameters.h"
#include "transformer/analysis/vocabulary_interval.h"

namespace transformer {

namespace {

int64_t total_with(ModelConfig model, bool tie_embeddings) {
  model.tie_embeddings = tie_embeddings;
  return count_parameters(model).total();
}

Json blocks_of(const ModelConfig& model) {
  const ParameterCount count = count_parameters(model);
  Json json = to_json(count);
  json["total"] = count.total();
  if (can_tie(model)) json["tied"] = total_with(model, true);
  json["untied"] = total_with(model, false);
  return json;
}

void print_blocks(const ModelConfig& model) {
  const ParameterCount count = count_parameters(model);
  const auto part = [&](int64_t value) {
    return formatted("%.1f %%",
                     100.0 * static_cast<double>(value) / static_cast<double>(count.total()));
  };
  std::vector<std::vector<std::string>> lines;
  ParameterCount::visit(count, [&](std::string block, int64_t value) {
    if (value == 0) return;
    std::replace(block.begin(), block.end(), '_', ' ');
    if (block == "embedding" && model.tie_embeddings) block += " (and output)";
    lines.push_back({block, grouped(value), part(value)});
  });
  lines.push_back({"total", grouped(count.total()), part(count.total())});
  print_cells(std::cout, lines, 1);
  std::cout << "\nwith V = " << grouped(model.V) << "; ";
  if (model.tie_embeddings || !can_tie(model)) {
    std::cout << "untied, with " << (reads_source(model.family) ? "three" : "two")
              << " matrices: " << grouped(total_with(model, false)) << "\n";
  } else {
    std::cout << "tied, with one matrix: " << grouped(total_with(model, true)) << "\n";
  }
}

std::string shown(const VocabularyInterval& interval) {
  if (interval.is_empty()) return "none";
  return grouped(interval.least) + " - " + grouped(interval.most);
}

// The rows for which the paper prints a figure, with the vocabularies that give it.
struct Printed {
  const SweepRow* row;
  VocabularyInterval vocabularies;
};

std::vector<Printed> printed_of(const std::vector<SweepRow>& rows) {
  std::vector<Printed> all;
  for (const auto& row : rows) {
    if (!row.paper.parameters) continue;
    all.push_back({&row, vocabularies_printing(row.config.model, *row.paper.parameters)});
  }
  return all;
}

VocabularyInterval common_of(const std::vector<Printed>& printed) {
  std::vector<VocabularyInterval> intervals;
  for (const auto& each : printed) intervals.push_back(each.vocabularies);
  return most_common(intervals);
}

void print_common(const std::vector<Printed>& printed) {
  if (printed.empty()) return;
  const auto common = common_of(printed);
  std::string others;
  size_t fitting = 0;
  for (const auto& each : printed) {
    if (each.vocabularies.contains(common.least)) {
      ++fitting;
    } else {
      others += (others.empty() ? "" : ", ") + each.row->id + " (" + shown(each.vocabularies) + ")";
    }
  }
  std::cout << "\nV = " << shown(common) << " prints the paper's figure in " << fitting << " of "
            << printed.size() << " rows";
  if (!others.empty()) std::cout << ", and no V in more;\nnot in " << others;
  std::cout << ".\n";
}

void print_rows(const std::vector<SweepRow>& rows) {
  const auto printed = printed_of(rows);
  std::vector<std::vector<std::string>> lines = {
      {"row", "V", "parameters", "tied", "untied", "paper", "V that prints it"}};
  for (const auto& row : rows) {
    const auto& model = row.config.model;
    std::vector<std::string> line = {row.id,
                                     grouped(model.V),
                                     grouped(count_parameters(model).total()),
                                     can_tie(model) ? grouped(total_with(model, true)) : "",
                                     grouped(total_with(model, false)),
                                     "",
                                     ""};
    for (const auto& each : printed) {
      if (each.row != &row) continue;
      line[5] = formatted("%.0fM", *row.paper.parameters / 1e6);
      line[6] = shown(each.vocabularies);
    }
    lines.push_back(line);
  }
  print_cells(std::cout, lines, 1);
  print_common(printed);
}

Json figures_of_rows(const std::vector<SweepRow>& rows) {
  const auto printed = printed_of(rows);
  Json list = Json::array();
  for (const auto& row : rows) {
    Json json{{"id", row.id}, {"V", int64_t{row.config.model.V}}};
    json.update(blocks_of(row.config.model));
    json["paper"] = row.paper.parameters ? Json(*row.paper.parameters) : Json();
    for (const auto& each : printed) {
      if (each.row == &row) json["vocabularies"] = to_json(each.vocabularies);
    }
    list.push_back(json);
  }
  Json json{{"rows", list}};
  if (!printed.empty()) {
    const auto common = common_of(printed);
    json["vocabularies"] = to_json(common);
    json["vocabularies"]["rows"] = Json::array();
    for (const auto& each : printed) {
      if (each.vocabularies.contains(common.least)) {
        json["vocabularies"]["rows"].push_back(each.row->id);
      }
    }
  }
  return json;
}

// Of one experiment its blocks are shown; of a sweep, or of the paper's row, a line a row.
bool is_one(const std::vector<SweepRow>& rows) {
  return rows.size() == 1 && !rows[0].paper.parameters;
}

Json parameters_figures(const Arguments&, const std::vector<SweepRow>& rows) {
  return is_one(rows) ? blocks_of(rows[0].config.model) : figures_of_rows(rows);
}

void print_parameters(const Arguments&, const std::vector<SweepRow>& rows) {
  if (is_one(rows)) {
    print_blocks(rows[0].config.model);
  } else {
    print_rows(rows);
  }
}

}  // namespace

const InspectTopic& parameters_topic() {
  static const InspectTopic topic = {
      .line = {.name = "inspect parameters",
               .summary = "Counts trained scalars, tied matrices once: by block of one experiment, "
                          "or a line for each row\nof a sweep, beside the paper's figure and the "
                          "sizes of vocabulary that would print it.",
               .usage = "CONFIG [key=value...]",
               .example = "transformer inspect parameters configs/table3.json model.V=41100",
               .fewest = 1,
               .most = 1,
               .with_overrides = true},
      .figures = parameters_figures,
      .print = print_parameters};
  return topic;
}

}  // namespace transformer
