#include "tools/serve/explore.h"

#include <algorithm>
#include <array>

#include "experiments/plan.h"
#include "experiments/sweep.h"
#include "tools/commands/inspect_topics.h"
#include "tools/serve/page_files.h"
#include "transformer/analysis/layer_complexity.h"
#include "transformer/analysis/parameters.h"
#include "transformer/error.h"

namespace transformer {

struct ExploredTopic {
  enum class Work { closed_form, model };

  const char* name;
  const InspectTopic& (*topic)();
  Work work;
  std::vector<std::string> options;  // those that a page may set
};

namespace {

using Work = ExploredTopic::Work;

const std::vector<ExploredTopic>& explored_topics() {
  static const std::vector<ExploredTopic> topics = {
      {"complexity", complexity_topic, Work::closed_form, {}},
      {"embedding-scale", embedding_scale_topic, Work::model, {}},
      {"flops", flops_topic, Work::closed_form, {"devices", "tflops", "utilisation"}},
      {"kv-cache", kv_cache_topic, Work::closed_form, {"bits", "length"}},
      {"label-smoothing", label_smoothing_topic, Work::closed_form, {}},
      {"masks", masks_topic, Work::closed_form, {"source", "target"}},
      {"parameters", parameters_topic, Work::closed_form, {}},
      {"positions", positions_topic, Work::closed_form, {"length"}},
      {"scaling",
       scaling_topic,
       Work::closed_form,
       {"devices", "gigabytes", "microseconds", "per-device", "tflops"}},
      {"schedule", schedule_topic, Work::closed_form, {"steps"}},
      {"shapes", shapes_topic, Work::model, {"sentences", "length"}},
      {"signal", signal_topic, Work::model, {"sentences", "length"}}};
  return topics;
}

const ExploredTopic& topic_named(const std::string& name) {
  std::vector<std::string> known;
  for (const auto& each : explored_topics()) {
    if (name == each.name) return each;
    known.emplace_back(each.name);
  }
  throw UserError(fields::shown_name(name) + ": unknown topic" + nearest_key(name, known));
}

// data.* names files, but for this one.
bool names_no_file(const std::string& key) {
  return !key.starts_with("data.") || key == "data.tokens_per_batch";
}

// The keys that a page may set, and those of them that it does.
std::vector<std::string> overrides_in(const Question& question,
                                      const std::vector<std::string>& known,
                                      const std::vector<std::string>& options) {
  std::vector<std::string> overrides;
  for (const auto& [key, value] : question) {
    if (std::ranges::count(options, key) > 0 || key == "config") continue;
    if (std::ranges::count(known, key) == 0 || !names_no_file(key)) {
      auto all = known;
      std::erase_if(all, [](const std::string& other) { return !names_no_file(other); });
      all.insert(all.end(), options.begin(), options.end());
      throw UserError(fields::shown_name(key) + ": unknown key" + nearest_key(key, all));
    }
    overrides.push_back(key + "=" + value);
  }
  return overrides;
}

void expect_at_most(const std::string& what, int64_t most, int64_t size) {
  if (size <= most) return;
  throw UserError(what + ": the page computes at most " + std::to_string(most) + "; got " +
                  std::to_string(size) + "; transformer inspect on the command line has no bound");
}

// Before the rows are made. Each override is a key with its values, commas between.
void check_count(const std::vector<std::string>& overrides) {
  constexpr int64_t kMost = 24;
  int64_t rows = 1;
  for (const auto& text : overrides) {
    rows = std::min(rows * (1 + std::ranges::count(text, ',')), kMost + 1);
  }
  expect_at_most("rows", kMost, rows);
}

// configs/base.json and configs/table3.json as they were when the program was built.
Sweep asked_sweep(const std::string& config, const std::vector<std::string>& overrides) {
  if (config != "base" && config != "table3") {
    throw UserError("config: " + fields::shown_name(config) + " is not one of: base, table3");
  }
  check_count(overrides);
  const auto content_of = [](const std::string& name) {
    return parse_json(std::string(page_file(name + ".json")->bytes), name);
  };
  const auto base = from_json<Config>(content_of("base"), "base");
  return sweep_of(config == "base" ? Json::object() : content_of(config), base, config, overrides,
                  "request");
}

int64_t whole_number(const Question& question, const std::string& option, int64_t otherwise) {
  const auto given = question.find(option);
  if (given == question.end()) return otherwise;
  const Json json = override_value(given->second);
  int64_t value = 0;
  fields::read(value, json, option);
  return value;
}

// What a page may make this machine compute, and send.
void check_sizes(const ExploredTopic& topic, const Question& question,
                 const std::vector<SweepRow>& rows) {
  constexpr int64_t kParameters = 70'000'000, kLayers = 96, kEntries = 65'536, kPieces = 1024;
  constexpr size_t kText = 4000;
  for (const auto& [key, value] : question) {
    expect_at_most(key + ": characters", kText, std::ssize(value));
  }
  const std::string name = topic.name;
  if (name == "positions") {
    const int64_t length = whole_number(question, "length", 128);
    expect_at_most("length", kEntries, length);
    expect_at_most("length × d_model", kEntries, length * rows[0].config.model.d_model);
  }
  if (name == "masks") {
    for (const char* side : {"source", "target"}) {
      if (!question.contains(side)) continue;
      constexpr int64_t kCharacters = 24;  // no more than 8 sentences of some length
      expect_at_most(std::string(side) + ": characters", kCharacters,
                     std::ssize(question.at(side)));
    }
  }
  if (topic.work == Work::closed_form && name != "positions") return;
  int64_t parameters = 0;
  for (const auto& row : rows) {
    // A table of positions is not built where it is not learned.
    if (name == "positions" && row.config.model.positions != PositionKind::learned) continue;
    expect_at_most("model.N", kLayers, row.config.model.N);
    parameters = std::max(parameters, count_parameters(row.config.model).total());
  }
  expect_at_most("parameters of a model", kParameters, parameters);
  const int64_t sentences = whole_number(question, "sentences", 1);
  const int64_t length = whole_number(question, "length", 1);
  expect_at_most("sentences", kPieces, sentences);
  expect_at_most("length", kPieces, length);
  expect_at_most("word-pieces of the batch (sentences × length)", kPieces, sentences * length);
}

}  // namespace

struct Exploration::Asked {
  const ExploredTopic& topic;
  std::vector<std::string> words;
  std::vector<SweepRow> rows;
};

Exploration::~Exploration() = default;
Exploration::Exploration(Exploration&&) noexcept = default;

Exploration::Exploration(const std::string& name, const Question& question) {
  const auto& topic = topic_named(name);
  const bool has_config = topic.topic().has_config();
  std::vector<std::string> words, known;
  if (has_config) known = known_keys<Config>();
  if (name == "complexity") known = known_keys<LayerSizes>();
  const auto overrides = overrides_in(question, known, topic.options);
  for (const auto& option : topic.options) {
    const auto given = question.find(option);
    if (given == question.end() || given->second == "false") continue;  // a switch, left off
    words.push_back("--" + option + (given->second == "true" ? "" : "=" + given->second));
  }
  std::vector<SweepRow> rows;
  if (has_config) {
    const auto config = question.find("config");
    rows = asked_sweep(config == question.end() ? "base" : config->second, overrides).rows;
  } else {
    words.insert(words.end(), overrides.begin(), overrides.end());
  }
  check_sizes(topic, question, rows);
  asked_ = std::make_unique<Asked>(Asked{topic, std::move(words), std::move(rows)});
}

bool Exploration::needs_model() const {
  const auto learns_positions = [](const SweepRow& row) {
    return row.config.model.positions == PositionKind::learned;
  };
  return asked_->topic.work == Work::model || (asked_->topic.name == std::string("positions") &&
                                               std::ranges::any_of(asked_->rows, learns_positions));
}

Json Exploration::figures() const {
  return figures_of(asked_->topic.topic(), asked_->words, asked_->rows);
}

Json table3_figures(const Question& question) {
  const auto sweep = asked_sweep("table3", overrides_in(question, known_keys<Config>(), {}));
  Json rows = Json::array();
  for (const auto& row : sweep.rows) {
    const RowPlan planned = plan(row, [](const Config&) { return std::nullopt; });
    rows.push_back({{"id", planned.id},
                    {"group", planned.group},
                    {"set", planned.set},
                    {"parameters", fields::write(planned.parameters)},
                    {"flops", fields::write(planned.flops)},
                    {"paper", to_json(planned.paper)}});
  }
  return {{"base", to_json(sweep.base)}, {"rows", rows}};
}

}  // namespace transformer
