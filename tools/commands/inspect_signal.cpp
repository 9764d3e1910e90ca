#include <torch/torch.h>

#include <iostream>

#include "tools/commands/inspect_arguments.h"
#include "tools/commands/inspect_model.h"
#include "tools/commands/inspect_topics.h"
#include "tools/text_table.h"
#include "transformer/analysis/signal.h"
#include "transformer/train/loss.h"

namespace transformer {

namespace {

// At initialisation, with the loss that would be minimised, the mean over predicted word-pieces;
// without dropout, so that the seed of the weights alone decides.
std::vector<SublayerSignal> signal_of(const Config& config, int64_t sentences, int64_t length) {
  auto model = initialised_model(config);
  model->eval();
  const auto batch = drawn_batch(config, sentences, length);
  const auto predicted =
      static_cast<double>(sentences * predicted_pieces(config.model.family, length));
  return measure_signal(model, [&] {
    const auto hidden = hidden_of(model, batch);
    return smoothed_loss(hidden.rows, model->output_weight(), hidden.targets,
                         config.training.eps_ls, 1.0 / predicted)
        .smoothed;
  });
}

// The first and the last of a stack, where the model has it.
std::optional<std::pair<SublayerSignal, SublayerSignal>> ends(
    const std::vector<SublayerSignal>& signals, const std::string& stack) {
  std::optional<std::pair<SublayerSignal, SublayerSignal>> ends;
  for (const auto& signal : signals) {
    if (!signal.sublayer.starts_with(stack)) continue;
    if (!ends) ends.emplace(signal, signal);
    ends->second = signal;
  }
  return ends;
}

void print_layers(const std::string& id, const std::vector<SublayerSignal>& signals) {
  std::cout << id << "\n";
  std::vector<std::vector<std::string>> lines = {
      {"sublayer", "|x|", "|f|", "|f|/|x|", "Var[f]/Var[x+f]", "|output|", "|dL/dW1|", "|dL/dW2|"}};
  for (const auto& signal : signals) {
    const auto gradient = [](double norm) { return norm > 0 ? formatted("%.3e", norm) : ""; };
    lines.push_back({signal.sublayer, formatted("%.2f", signal.trunk),
                     formatted("%.2f", signal.branch), formatted("%.3f", signal.branch_trunk),
                     formatted("%.3f", signal.dependency), formatted("%.2f", signal.output),
                     gradient(signal.gradient_in), gradient(signal.gradient_out)});
  }
  print_cells(std::cout, lines, 1);
  std::cout << "\n";
}

void add_summary(std::vector<std::vector<std::string>>& lines, const std::string& id,
                 const std::vector<SublayerSignal>& signals) {
  for (const std::string stack : {"encoder", "decoder"}) {
    const auto found = ends(signals, stack);
    if (!found) continue;
    const auto& [first, last] = *found;
    lines.push_back({id, stack, formatted("%.2f", first.trunk), formatted("%.2f", last.output),
                     formatted("%.3f", first.branch_trunk), formatted("%.3f", last.branch_trunk),
                     formatted("%.3f", last.dependency), formatted("%.3e", last.gradient_out)});
  }
}

Json signals_json(const std::vector<SublayerSignal>& signals) {
  Json list = Json::array();
  for (const auto& signal : signals) list.push_back(to_json(signal));
  return list;
}

void add_signal_options(cxxopts::Options& options) {
  options.add_options()("sentences", "of the batch",
                        cxxopts::value<std::string>()->default_value("8"))(
      "length", "of its sentences", cxxopts::value<std::string>()->default_value("32"))(
      "layers", "every sublayer of every row");
}

std::vector<SublayerSignal> signal_of(const Config& config, const Arguments& arguments) {
  constexpr int64_t kMost = 4096;
  return signal_of(config, arguments.integer("sentences", 1, kMost),
                   arguments.integer("length", 1, kMost));
}

Json signal_figures(const Arguments& arguments, const std::vector<SweepRow>& rows) {
  Json list = Json::array();
  for (const auto& row : rows) {
    list.push_back({{"id", row.id},
                    {"norm_placement", name_of(row.config.model.norm_placement)},
                    {"N", row.config.model.N},
                    {"sublayers", signals_json(signal_of(row.config, arguments))}});
  }
  return {{"rows", list}};
}

void print_signal(const Arguments& arguments, const std::vector<SweepRow>& rows) {
  const bool with_layers = rows.size() == 1 || arguments.has("layers");
  std::vector<std::vector<std::string>> lines = {{"row", "stack", "|x| first", "|output| last",
                                                  "|f|/|x| first", "|f|/|x| last",
                                                  "Var[f]/Var[x+f] last", "|dL/dW2| last"}};
  for (const auto& row : rows) {
    const auto signals = signal_of(row.config, arguments);
    if (with_layers) print_layers(row.id, signals);
    add_summary(lines, row.id, signals);
  }
  print_cells(std::cout, lines, 2);
}

}  // namespace

const InspectTopic& signal_topic() {
  static const InspectTopic topic = {
      .line = {.name = "inspect signal",
               .summary = "What passes through the residual connections of a model as initialised, "
                          "on drawn word-pieces and without\ndropout: norms of trunk x and branch "
                          "f(x), Admin's dependency Var[f]/Var[x+f], and the loss's gradient by\n"
                          "the feed-forward weights. Compares Post-LN with Pre-LN by depth.",
               .usage = "CONFIG [key=value...]",
               .example = "transformer inspect signal configs/mini.json "
                          "model.norm_placement=post,pre model.N=6,12,24",
               .fewest = 1,
               .most = 1,
               .with_overrides = true},
      .add_options = add_signal_options,
      .figures = signal_figures,
      .print = print_signal};
  return topic;
}

}  // namespace transformer
