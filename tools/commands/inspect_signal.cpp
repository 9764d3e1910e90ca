#include <torch/torch.h>

#include <iostream>

#include "tools/commands/inspect_arguments.h"
#include "tools/commands/inspect_commands.h"
#include "tools/commands/inspect_model.h"
#include "tools/text_table.h"
#include "transformer/analysis/signal.h"
#include "transformer/train/loss.h"

namespace transformer {

namespace {

// At initialisation, with the loss that would be minimised, the mean over target word-pieces;
// without dropout, so that the seed of the weights alone decides.
std::vector<SublayerSignal> signal_of(const Config& config, int64_t sentences, int64_t length) {
  auto model = initialised_model(config);
  model->eval();
  const auto batch = drawn_batch(config, sentences, length);
  return measure_signal(model, [&] {
    const auto hidden = hidden_of(model, batch);
    return smoothed_loss(hidden.rows, model->output_weight(), hidden.targets,
                         config.training.eps_ls, 1.0 / static_cast<double>(sentences * length))
        .smoothed;
  });
}

// The first and the last of a stack.
std::pair<SublayerSignal, SublayerSignal> ends(const std::vector<SublayerSignal>& signals,
                                               const std::string& stack) {
  std::optional<SublayerSignal> first, last;
  for (const auto& signal : signals) {
    if (!signal.sublayer.starts_with(stack)) continue;
    if (!first) first = signal;
    last = signal;
  }
  return {*first, *last};
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
    const auto [first, last] = ends(signals, stack);
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

}  // namespace

int inspect_signal_command(int argc, char** argv) {
  constexpr int64_t kMost = 4096;
  cxxopts::Options options("transformer inspect signal");
  options.add_options()("sentences", "of the batch",
                        cxxopts::value<std::string>()->default_value("8"))(
      "length", "of its sentences", cxxopts::value<std::string>()->default_value("32"))(
      "layers", "every sublayer of every row")("json", "every sublayer as JSON");
  const auto arguments = parse(
      options,
      {.name = "inspect signal",
       .summary = "What passes through the residual connections of a model as initialised, on "
                  "drawn word-pieces and without\ndropout: norms of trunk x and branch f(x), "
                  "Admin's dependency Var[f]/Var[x+f], and the loss's gradient by\nthe "
                  "feed-forward weights. Compares Post-LN with Pre-LN by depth.",
       .usage = "CONFIG [key=value...]",
       .example = "transformer inspect signal configs/mini.json model.norm_placement=post,pre "
                  "model.N=6,12,24",
       .fewest = 1,
       .most = 1,
       .with_overrides = true},
      argc, argv);
  if (!arguments) return 0;
  const int64_t sentences = arguments->integer("sentences", 1, kMost);
  const int64_t length = arguments->integer("length", 1, kMost);
  const auto rows = rows_of(*arguments);
  const bool with_layers = rows.size() == 1 || arguments->has("layers");
  Json list = Json::array();
  std::vector<std::vector<std::string>> lines = {{"row", "stack", "|x| first", "|output| last",
                                                  "|f|/|x| first", "|f|/|x| last",
                                                  "Var[f]/Var[x+f] last", "|dL/dW2| last"}};
  for (const auto& row : rows) {
    const auto signals = signal_of(row.config, sentences, length);
    list.push_back({{"id", row.id},
                    {"norm_placement", name_of(row.config.model.norm_placement)},
                    {"N", row.config.model.N},
                    {"sublayers", signals_json(signals)}});
    if (with_layers && !arguments->has("json")) print_layers(row.id, signals);
    add_summary(lines, row.id, signals);
  }
  if (arguments->has("json")) {
    print_json({{"rows", list}});
  } else {
    print_cells(std::cout, lines, 2);
  }
  return 0;
}

}  // namespace transformer
