#include <torch/torch.h>

#include <algorithm>
#include <iostream>

#include "experiments/display_width.h"
#include "tools/commands/attention_figures.h"
#include "tools/commands/inspect_arguments.h"
#include "tools/commands/inspect_commands.h"
#include "tools/commands/model_options.h"
#include "tools/text_table.h"
#include "transformer/analysis/attention_weights.h"
#include "transformer/analysis/residual_observation.h"
#include "transformer/error.h"
#include "transformer/printable.h"
#include "transformer/train/batch_tensors.h"
#include "transformer/utf8.h"

namespace transformer {

namespace {

AttentionChoice choice_of(const Arguments& arguments, const ModelConfig& model) {
  AttentionChoice choice;
  if (arguments.has("kind")) {
    choice.kind = arguments.get<std::string>("kind");
    expect_kind(choice.kind, model, "--kind");
  }
  if (arguments.has("layer")) choice.layer = arguments.integer("layer", 0, model.N - 1);
  if (arguments.has("head")) choice.head = arguments.integer("head", 0, model.h - 1);
  return choice;
}

// A weight from 0 to 1 in ten steps.
char shade(double weight) {
  constexpr std::string_view kShades = " .:-=+*#%@";
  const auto step = static_cast<size_t>(std::clamp(weight, 0.0, 1.0) * 10);
  return kShades[std::min<size_t>(step, kShades.size() - 1)];
}

// weights: [h, q_time, k_time]. Heads side by side as far as the line goes, each row with the piece
// that asks.
void print_heads(const torch::Tensor& weights, const std::vector<int64_t>& heads,
                 const std::vector<std::string>& queries) {
  constexpr size_t kWidth = 100;
  size_t label = 0;
  for (const auto& query : queries) label = std::max(label, display_width(query));
  const auto keys = static_cast<size_t>(weights.size(2));
  const size_t column = std::max<size_t>(keys + 2, 9);  // "head 12" fits
  const size_t fit = std::max<size_t>(1, (std::max(kWidth, label + column) - label) / (column + 1));
  for (size_t start = 0; start < heads.size(); start += fit) {
    const size_t end = std::min(heads.size(), start + fit);
    std::string title(label + 2, ' ');
    for (size_t i = start; i < end; ++i) {
      std::string name = " head " + std::to_string(heads[i]);
      name.resize(column + 1, ' ');
      title += name;
    }
    title.erase(title.find_last_not_of(' ') + 1);
    std::cout << title << "\n";
    for (size_t q = 0; q < queries.size(); ++q) {
      std::cout << "  " << std::string(label - display_width(queries[q]), ' ') << queries[q];
      for (size_t i = start; i < end; ++i) {
        const auto row = weights[heads[i]][static_cast<int64_t>(q)];
        std::string cells;
        for (int64_t k = 0; k < weights.size(2); ++k) cells += shade(row[k].item<double>());
        cells += "|";
        if (i + 1 < end) cells.resize(column - 1, ' ');
        std::cout << " |" << cells;
      }
      std::cout << "\n";
    }
  }
}

std::string joined(const std::vector<std::string>& pieces) {
  std::string text;
  for (const auto& piece : pieces) text += (text.empty() ? "" : " ") + piece;
  return text;
}

void print_attention(Translator& translator, const Pieces& source, const Pieces& target,
                     const AttentionChoice& choice) {
  const auto heads = chosen_heads(choice, translator.model->config().h);
  const bool has_source = reads_source(translator.model->config().family);
  if (has_source) std::cout << "source: " << joined(source.texts) << "\n";
  std::cout << "target: " << joined(target.texts) << "\n";
  for (const auto& each :
       attention_weights(translator.model, padded({source.ids}, translator.device),
                         padded({target.ids}, translator.device))) {
    const SublayerName name(each.attention);
    if (!is_chosen(choice, name)) continue;
    std::cout << "\n" << each.attention << "\n";
    print_heads(each.weights[0].to(torch::kCPU), heads,
                has_source && name.stack == "encoder" ? source.texts : target.texts);
  }
}

}  // namespace

int inspect_attention_command(int argc, char** argv) {
  constexpr int64_t kMostPieces = 1000;
  cxxopts::Options options("transformer inspect attention");
  add_model_options(options);
  options.add_options()("source", "a sentence, where the model reads one",
                        cxxopts::value<std::string>())("target", "its translation",
                                                       cxxopts::value<std::string>())(
      "kind", "encoder, decoder or cross alone", cxxopts::value<std::string>())(
      "layer", "one layer alone, from 0", cxxopts::value<std::string>())(
      "head", "one head alone, from 0", cxxopts::value<std::string>())("json", "weights as JSON");
  const auto arguments = parse(
      options,
      {.name = "inspect attention",
       .summary =
           "The weights softmax(Q K^T / sqrt(d_k)) of each layer and head for a sentence "
           "pair: a line for each\nword-piece that asks, a character for each that is asked, "
           "from blank (below 0.1) to @ (above 0.9).",
       .usage = "--checkpoint RUN [--source TEXT] --target TEXT",
       .example =
           "transformer inspect attention --checkpoint runs/small --source \"Open the file.\" "
           "--target \"Öffnen Sie die Datei.\" --kind cross",
       .most = 0,
       .with_overrides = true},
      argc, argv);
  if (!arguments) return 0;
  if (!arguments->has("target")) throw UserError("inspect attention: expected --target TEXT");
  for (const char* side : {"source", "target"}) {
    if (!arguments->has(side)) continue;
    if (const auto text = arguments->get<std::string>(side); !is_utf8(text)) {
      throw UserError(std::string("--") + side + ": expected UTF-8; got \"" + printable(text) +
                      "\"");
    }
  }
  auto loaded = load_model(*arguments);
  auto& translator = loaded.translator;
  const auto family = loaded.config.model.family;
  if (reads_source(family) && !arguments->has("source")) {
    throw UserError("inspect attention: expected --source TEXT");
  }
  if (!reads_source(family) && arguments->has("source")) {
    throw UserError("--source: the model's family is " + name_of(family) +
                    ", which reads no source; give --target alone");
  }
  const AttentionChoice choice = choice_of(*arguments, loaded.config.model);
  Pieces source;
  if (reads_source(family)) {
    source = pieces_of_source(translator.source,
                              translator.source.encode(arguments->get<std::string>("source")));
  }
  const auto target_ids = translator.target.encode(arguments->get<std::string>("target"));
  const auto target = has_decoder(family) ? pieces_of_target(translator.target, target_ids)
                                          : pieces_of_source(translator.target, target_ids);
  for (const auto& [side, pieces] :
       {std::pair<const char*, const Pieces*>{"source", &source}, {"target", &target}}) {
    if (std::ssize(pieces->ids) > kMostPieces) {
      throw UserError(std::string("--") + side + ": expected at most " +
                      std::to_string(kMostPieces) + " word-pieces; got " +
                      std::to_string(pieces->ids.size()));
    }
  }
  if (arguments->has("json")) {
    print_json(attention_figures(translator, source, target, choice));
  } else {
    print_attention(translator, source, target, choice);
  }
  return 0;
}

}  // namespace transformer
